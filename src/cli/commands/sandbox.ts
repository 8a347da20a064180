import { openCheckup } from '../../daemon/checkup.ts';
import { resolveHome, type Surroundings } from '../../home/home-path.ts';
import { findFolder } from '../doctor/disk-checks.ts';
import { reportFindings } from '../doctor/report-findings.ts';

export interface SandboxFlags {
  home?: string | undefined;
  json?: boolean | undefined;
}

interface SandboxOptions {
  flags: SandboxFlags;
  around: Surroundings;
}

/** Tries every part of the sandbox as a daemon that starts now would have it. Exit code 1 if something does not work. */
export async function checkSandbox({ flags, around }: SandboxOptions): Promise<void> {
  const home = resolveHome(flags, around);
  const checkup = await openCheckup(home, around);
  const findings = await checkup.sandbox(await findFolder(home));
  const settings = checkup.settings.filter(({ level }) => level === 'problem');
  reportFindings([...settings, ...findings], { json: flags.json === true, around });
}
