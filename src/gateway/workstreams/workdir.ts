import { mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';

export interface WorkdirPolicy {
  /** Headgate's home. */
  home: string;
  /** The home folder of the person. */
  userHome: string;
  /** Where workstreams work when nothing else is said; made when missing. */
  standard: string;
}

/** Resolves where a workstream works. Refuses the whole disk, the person's home folder and Headgate's own home. */
export async function resolveWorkdir(policy: WorkdirPolicy, asked?: string): Promise<string> {
  const given = asked ?? policy.standard;
  if (!path.isAbsolute(given)) throw refused(given, 'it must be an absolute path');
  // Only a folder in our own home is ours to make: a mistyped --workdir is refused, not created.
  if (given === policy.standard && given.startsWith(policy.home + path.sep)) {
    await mkdir(given, { recursive: true, mode: 0o700 });
  }
  const real = await resolved(given);
  if (!(await stat(real)).isDirectory()) throw refused(given, 'it is not a directory');
  const home = await realpath(policy.home);
  const userHome = await realpath(policy.userHome).catch(() => policy.userHome); // a daemon's user may have none
  const standard = await realpath(policy.standard).catch(() => policy.standard); // not made yet
  if (real === path.parse(real).root) throw refused(given, 'it is the whole disk');
  if (real === userHome) throw refused(given, 'it is your home folder; choose a project folder in it');
  const insideHome = real === home || real.startsWith(home + path.sep);
  const insideStandard = real === standard || real.startsWith(standard + path.sep);
  if (insideHome && !insideStandard) throw refused(given, 'it is Headgate’s own folder');
  if (home.startsWith(real + path.sep)) throw refused(given, 'it contains Headgate’s own folder');
  return real;
}

async function resolved(given: string): Promise<string> {
  try {
    return await realpath(given);
  } catch (error) {
    throw new GatewayError('INVALID_REQUEST', `Working directory ${given}: it does not exist`, { cause: error });
  }
}

const refused = (given: string, why: string) =>
  new GatewayError('INVALID_REQUEST', `Working directory ${given}: ${why}`);
