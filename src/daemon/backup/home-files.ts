import { link, lstat, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../home/private-file.ts';

export const DATABASE = 'headgate.db';
/** Files that belong to the database while it is open, or after a kill. */
export const DATABASE_LOGS = [`${DATABASE}-wal`, `${DATABASE}-shm`];

/** Caches, files of a running daemon, and the person's own files. */
const LEFT_OUT = new Set([
  'barriers',
  'compiled',
  'daemon.json',
  'daemon.lock',
  'daemon.lock-journal',
  'restoring.json',
  'restoring.json.bak',
  'speech',
  'workspace',
  ...DATABASE_LOGS,
]);
/** Written under another name before they are renamed. */
const UNFINISHED = /\.(tmp|part|partial)$/;
/** Copies of earlier states, unfinished files, and folders of backups and restores. */
const LEFT_OUT_LIKE = [/^\./, /^before-restore-/, /^headgate\.db\.bak-v/, /\.(damaged|corrupt)-/, UNFINISHED];

/** Whether a backup holds this file or folder of the home. Unknown names count: a later version may store data there. */
export const isBackedUp = (name: string): boolean =>
  !LEFT_OUT.has(name) && !LEFT_OUT_LIKE.some((pattern) => pattern.test(name));

/**
 * Links the files of a home into `folder`, which is on the same disk, and returns what is neither a file nor a folder. A linked
 * file keeps its content if the daemon replaces or removes it. Names that are there already stay as they are.
 */
export async function linkHome(home: string, folder: string): Promise<string[]> {
  const names = (await readdir(home)).filter((name) => isBackedUp(name) && name !== DATABASE && !isKey(name));
  const others = await Promise.all(names.map((name) => linkTree({ home, folder, name })));
  return others.flat();
}

/** The key that the database needs is chosen separately. */
const isKey = (name: string): boolean => ['headgate-key', 'headgate-key.new', 'headgate-key.old'].includes(name);

interface Linked {
  home: string;
  folder: string;
  /** Relative to both. */
  name: string;
}

async function linkTree({ home, folder, name }: Linked): Promise<string[]> {
  const from = path.join(home, name);
  const to = path.join(folder, name);
  try {
    const found = await lstat(from);
    if (found.isFile()) {
      await link(from, to);
      return [];
    }
    if (!found.isDirectory()) return [name];
    await mkdir(to, { recursive: true, mode: 0o700 });
    const others: string[] = [];
    for (const each of await readdir(from))
      if (!UNFINISHED.test(each)) others.push(...(await linkTree({ home, folder, name: path.join(name, each) })));
    return others;
  } catch (error) {
    // The daemon has just removed it, or an earlier round linked it.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EEXIST')) return [];
    throw error;
  }
}

/** All files below a folder, relative to it, in a fixed order. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
