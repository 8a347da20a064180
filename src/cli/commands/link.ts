import type { Surroundings } from '../../home/home-path.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';

interface LinkOptions {
  flags: TargetFlags;
  around: Surroundings;
  root: URL;
}

/** Prints a link that logs one browser in, once. */
export async function link({ flags, around, root }: LinkOptions): Promise<void> {
  const target = await resolveTarget(flags, around);
  const caller = { target, version: await readVersion(root) };
  const { url, setupCode } = await withClient(caller, (client) => client.call('auth.link', {}));
  process.stdout.write(`${url}\n`);
  if (setupCode !== undefined) process.stderr.write(`Setup code, for the first user: ${setupCode}\n`);
}
