import { mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';
import { createLooks, type LooksByPlace, promptLooks } from '../../agent/tools/files/file-looks.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';

export interface WorkdirPolicy {
  /** Headgate's home. */
  home: string;
  /** The user's home folder. */
  userHome: string;
  /** The default working directory; created when missing. */
  standard: string;
  /** Home folders of other users outside /home and /Users. */
  otherHomes: readonly string[];
  /** The user of the daemon; undefined where the system has no user ids. */
  uid: number | undefined;
}

/** Finds the working directory of a workstream. Refuses folders that are not allowed (`findBarrier`). */
export async function resolveWorkdir(policy: WorkdirPolicy, asked?: string): Promise<FolderIdentity> {
  const given = asked ?? policy.standard;
  if (!path.isAbsolute(given)) throw refused(given, 'it must be an absolute path');
  // Only a folder in our own home is created. A mistyped --workdir is refused.
  if (given === policy.standard && given.startsWith(policy.home + path.sep)) {
    await mkdir(given, { recursive: true, mode: 0o700 });
  }
  const real = await resolved(given);
  const stats = await stat(real, { bigint: true });
  if (!stats.isDirectory()) throw refused(given, 'it is not a directory');
  const barrier = await findBarrier(policy, real);
  if (barrier !== undefined) throw refused(given, barrier);
  return { path: real, ino: String(stats.ino) };
}

/** Why the folder at this real path cannot be a working directory; undefined when it can. */
export async function findBarrier(
  policy: WorkdirPolicy,
  real: string,
  places: LooksByPlace = createLooks(),
): Promise<string | undefined> {
  const [home, userHome, standard] = await Promise.all([
    promptLooks.realOf(policy.home), // the daemon waits for its disk in any case: it contains the database
    realOf(policy.userHome, places), // a daemon's user may have no home
    realOf(policy.standard, places), // not created yet
  ]);
  if (real === path.parse(real).root) return 'it is the whole disk';
  if (real === userHome) return 'it is your home folder; choose a project folder in it';
  if (isIn(home, real) && !isIn(standard, real)) return 'it is Headgate’s own folder';
  if (isIn(real, home)) return 'it contains Headgate’s own folder';
  if (isIn(real, userHome)) return 'it contains your home folder';
  if (isIn(standard, real) && isIn(home, standard)) return undefined; // ours, wherever our home is
  if (isIn(userHome, real) && isHomeOfItsOwn(userHome)) return undefined;
  return findSystemBarrier(policy, real);
}

/** Folders of the system and of others, on Linux and macOS, as real paths. */
const SYSTEM = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/lost+found', '/nix', '/proc', '/root'],
  ...['/run', '/sbin', '/snap', '/sys', '/usr', '/var/backups', '/var/cache', '/var/db', '/var/lib', '/var/lock'],
  ...['/var/log', '/var/mail', '/var/run', '/var/spool', '/System', '/Library', '/Applications', '/cores'],
  ...['/private/etc', '/private/var/db', '/private/var/log', '/private/var/root', '/private/var/run'],
];
const HOMES = ['/home', '/Users'];
/** On macOS: a folder for all users. */
const SHARED = '/Users/Shared';

async function findSystemBarrier({ otherHomes, uid }: WorkdirPolicy, real: string): Promise<string | undefined> {
  if (SYSTEM.some((folder) => isIn(folder, real))) return 'it is a system folder';
  if (SYSTEM.some((folder) => isIn(real, folder))) return 'it contains system folders';
  if (otherHomes.some((folder) => isIn(folder, real))) return OTHERS;
  if ([...HOMES, ...otherHomes].some((folder) => isIn(real, folder))) return 'it contains the home folders of users';
  const parent = HOMES.find((folder) => isIn(folder, real));
  if (parent === undefined || isIn(SHARED, real)) return undefined;
  const [name = ''] = path.relative(parent, real).split(path.sep);
  const owner = await stat(path.join(parent, name)).catch(() => undefined); // a missing folder has no owner
  return owner && owner.uid === uid ? undefined : OTHERS;
}

const OTHERS = 'it is in the home folder of another user';

/**
 * Some system users have `/` or a folder such as /var/lib as their home, which says nothing about the folders below it.
 */
const isHomeOfItsOwn = (userHome: string): boolean =>
  !SYSTEM.some((folder) => isIn(userHome, folder) && folder !== '/root') && !HOMES.includes(userHome);

const realOf = async (folder: string, places: LooksByPlace): Promise<string> =>
  (await places.at(folder)).realOf(folder);

/** The folder itself, or anything below it. */
export const isIn = (folder: string, real: string): boolean =>
  real === folder || real.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);

async function resolved(given: string): Promise<string> {
  try {
    return await realpath(given);
  } catch (error) {
    throw new GatewayError('INVALID_REQUEST', `Working directory ${given}: ${whyUnreadable(error)}`, { cause: error });
  }
}

const refused = (given: string, why: string) =>
  new GatewayError('INVALID_REQUEST', `Working directory ${given}: ${why}`);
