import { existsSync } from 'node:fs';
import { wordsOf } from '../../../protocol/words-of.ts';
import { systemClock } from '../../clock.ts';
import { type Finding, ok, problem } from '../../daemon/checkup/finding.ts';
import { openCheckup } from '../../daemon/checkup.ts';
import { resolveHome, type Surroundings } from '../../home/home-path.ts';
import { restoreJournal } from '../../home/restore-journal.ts';
import { readVersion } from '../../version.ts';
import { checkDaemon, checkPort } from '../doctor/daemon-checks.ts';
import { checkDatabase } from '../doctor/database-check.ts';
import { checkDisk, checkYear, findFolder } from '../doctor/disk-checks.ts';
import { checkHome } from '../doctor/home-checks.ts';
import { reportFindings } from '../doctor/report-findings.ts';

export interface DoctorFlags {
  home?: string | undefined;
  json?: boolean | undefined;
}

interface DoctorOptions {
  flags: DoctorFlags;
  around: Surroundings;
  root: URL;
}

const OLDEST_NODE = 24;

/** Checks everything a daemon needs and changes nothing. Exit code 1 if something does not work. */
export async function doctor({ flags, around, root }: DoctorOptions): Promise<void> {
  const findings = await examine({ home: resolveHome(flags, around), around, root });
  reportFindings(findings, { json: flags.json === true, around });
}

interface Examined {
  home: string;
  around: Surroundings;
  root: URL;
}

async function examine({ home, around, root }: Examined): Promise<Finding[]> {
  if (existsSync(restoreJournal(home))) return [checkNode(process.versions.node), halfRestored(home)];
  const checkup = await openCheckup(home, around);
  const daemon = await checkDaemon(home, await readVersion(root));
  const folder = await findFolder(home);
  const { health } = daemon;
  const checks: Record<string, () => Promise<Finding[]>> = {
    home: () => checkHome(home, { uid: process.getuid?.(), hasServer: checkup.hasServer }),
    secrets: () => checkup.secrets(),
    port: async () => [await checkPort(checkup.address(), daemon)],
    model: async () => [await checkup.model(health)],
    disk: () => checkDisk(home, systemClock),
    clock: async () => checkYear(systemClock.now(), health?.ts),
    database: async () => {
      const { environment } = around;
      return health ? [] : [await (checkup.store() ?? checkDatabase(home, { environment, schema: checkup.schema }))];
    },
    machines: () => checkup.machines(systemClock),
    tools: () => checkup.tools(folder),
  };
  const found = await Promise.all(Object.entries(checks).map(([name, check]) => attempt(name, check)));
  return [checkNode(process.versions.node), ...checkup.settings, ...daemon.findings, ...found.flat()];
}

/** Some files of the home are the former ones, some the restored ones, and some are missing: nothing else can be said of it. */
const halfRestored = (home: string): Finding =>
  problem(
    'restore',
    `a restore of ${home} was interrupted while it moved files; none is lost`,
    'headgate start completes it, and so does headgate restore.',
  );

/** If a check itself fails, that becomes a finding, and the other checks continue. */
async function attempt(name: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [problem(name, `could not be checked: ${wordsOf(error)}`, 'Fix that first.')];
  }
}

function checkNode(version: string): Finding {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok('node', version);
  return problem('node', `${version} is too old`, `Install Node.js ${OLDEST_NODE} or newer.`);
}
