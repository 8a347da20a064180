import { constants } from 'node:fs';
import { access, chmod, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { wordsOf } from '../../protocol/words-of.ts';
import { StartError } from '../start-error.ts';

/** Files of a Headgate home; a folder with any of them is one. */
const OURS = ['config.json', 'daemon.lock', 'headgate.db', 'node.json', 'token'];
/** The kernel's file systems: creating a folder there fails, or hangs. */
const NOT_FOR_FILES = ['/proc', '/sys'];

/**
 * Creates the home folder, accessible only to its owner. Returns what was changed about an existing one. Throws StartError,
 * without changing anything, for a folder that holds other files.
 */
export async function openHomeFolder(home: string): Promise<string[]> {
  try {
    await requireRealDisk(home);
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return await makePrivate(home);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(toRefusal(home, wordsOf(error)), { cause: error });
  }
}

const toRefusal = (home: string, reason: string): string =>
  `The home folder ${home} cannot be used: ${reason}. Choose another with --home.`;

async function requireRealDisk(home: string): Promise<void> {
  const folder = await nearestFolder(home);
  const isKernels = NOT_FOR_FILES.some((kernels) => folder === kernels || folder.startsWith(`${kernels}/`));
  if (isKernels) throw new StartError(toRefusal(home, `${folder} is a file system of the kernel`));
}

/** The folder, or the nearest existing one above it, with its links resolved. */
async function nearestFolder(folder: string): Promise<string> {
  const found = await realpath(folder).catch(() => undefined); // not created yet
  return found ?? (folder === path.dirname(folder) ? folder : nearestFolder(path.dirname(folder)));
}

async function makePrivate(home: string): Promise<string[]> {
  const { mode, uid } = await stat(home);
  const open = mode & 0o077;
  if (uid !== process.getuid?.()) {
    throw new StartError(`The home folder ${home} belongs to another user. Choose another with --home.`);
  }
  if (open === 0) return [];
  await requireOurs(home);
  await chmod(home, mode & 0o700);
  return [
    `The home folder ${home} was open to other users (mode ${(mode & 0o777).toString(8)}); it is now open only to you.`,
  ];
}

/** Closing a folder to others is safe only if it is empty or ours: not for `/` or a person's home directory. */
async function requireOurs(home: string): Promise<void> {
  const names = await readdir(home);
  if (names.length === 0 || isHome(names)) return;
  throw new StartError(toRefusal(home, `other users can enter it, and it holds files that are not Headgate’s`));
}

/** Whether a folder with these files is a home of Headgate. */
export const isHome = (names: readonly string[]): boolean => names.some((name) => OURS.includes(name));
