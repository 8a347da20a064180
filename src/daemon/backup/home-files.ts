import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../home/private-file.ts';
import { MANIFEST } from './manifest.ts';

export const DATABASE = 'headgate.db';
/** Files that belong to the database while it is open, or after a kill. */
export const DATABASE_LOGS = [`${DATABASE}-wal`, `${DATABASE}-shm`];

/** Where archives go unless another place is named: like the rest of the home, it is hidden from file tools and sandboxes. */
export const BACKUPS = 'backups';
/** May be a link, for example into a folder of dotfiles: the daemon follows it. */
const SETTINGS = 'config.json';
/** Caches, files of a running daemon, archives, and the person's own files. An archive has its own manifest. */
const LEFT_OUT = new Set([
  BACKUPS,
  MANIFEST,
  'barriers',
  'compiled',
  'daemon.json',
  'daemon.lock',
  'daemon.lock-journal',
  'git',
  'restoring.json',
  'restoring.json.bak',
  'speech',
  'workspace',
  ...DATABASE_LOGS,
]);
/** Written under another name before they are renamed. */
const UNFINISHED = /\.(tmp|part|partial)$/;
/** Only the daemon writes into these. In other folders, such as `skills/`, a file of a person may have such a name. */
const WRITTEN_BY_DAEMON = new Set(['attachments', 'checkpoints', 'outputs']);
/** Copies of earlier states, unfinished files, archives, and folders of backups and restores. */
const LEFT_OUT_LIKE = [
  /^\./,
  /^before-restore-/,
  /^headgate-backup-[\d-]+\.tar\.gz$/,
  /^headgate\.db\.bak-v/,
  /\.(damaged|corrupt)-/,
  UNFINISHED,
];

/** Whether a backup holds this file or folder of the home. Unknown names count: a later version may store data there. */
export const isBackedUp = (name: string): boolean =>
  !LEFT_OUT.has(name) && !LEFT_OUT_LIKE.some((pattern) => pattern.test(name));

interface LinkDeps {
  link(from: string, to: string): Promise<void>;
}

/**
 * Links the files of a home into `folder`, which is inside it, and returns what it cannot link: what is neither a file nor a folder,
 * and what has a name that is not UTF-8, or that of the manifest. A linked file
 * keeps its content if the daemon replaces or removes it. Names that are there already stay as they are. Where the disk has no
 * links, or a folder of the home is another disk, the files are copied.
 */
export async function linkHome(home: string, folder: string, deps: LinkDeps = { link }): Promise<string[]> {
  const found = await readdir(home);
  const names = found.filter((name) => isBackedUp(name) && name !== DATABASE && !isKey(name));
  const others = await Promise.all(
    names.map((name) => linkTree({ home, folder, name, isOurs: WRITTEN_BY_DAEMON.has(name) }, deps)),
  );
  return [...others.flat(), ...found.filter((name) => name === MANIFEST)];
}

/** The key that the database needs is chosen separately. */
const isKey = (name: string): boolean => ['headgate-key', 'headgate-key.new', 'headgate-key.old'].includes(name);

interface Linked {
  home: string;
  folder: string;
  /** Relative to both. */
  name: string;
  /** It is in a folder into which only the daemon writes. */
  isOurs: boolean;
}

async function linkTree(linked: Linked, deps: LinkDeps): Promise<string[]> {
  const { home, folder, name, isOurs } = linked;
  const from = path.join(home, name);
  const to = path.join(folder, name);
  try {
    const found = await lstat(from);
    if (found.isFile()) {
      await linkOrCopy({ from, to, mtime: found.mtime }, deps);
      return [];
    }
    if (name === SETTINGS && (await copyLinked(from, to))) return [];
    if (!found.isDirectory()) return [name];
    await mkdir(to, { recursive: true, mode: 0o700 });
    const others: string[] = [];
    for (const each of await readdir(from))
      if (!isOurs || !UNFINISHED.test(each))
        others.push(...(await linkTree({ ...linked, name: path.join(name, each) }, deps)));
    return others;
  } catch (error) {
    return whatIsMissing(linked, error);
  }
}

/** The name of a file that could not be found, if it is there nevertheless. Throws other errors again. */
async function whatIsMissing({ home, name }: Linked, error: unknown): Promise<string[]> {
  if (hasCode(error, 'EEXIST')) return []; // an earlier round linked it
  if (!hasCode(error, 'ENOENT')) throw error;
  return (await isMisread(path.join(home, name))) ? [name] : []; // otherwise the daemon has just removed it
}

/** Whether this is the name of a file as Node reads it: what is not UTF-8 is replaced, so nothing has the name that it gives. */
export async function isMisread(file: string): Promise<boolean> {
  const name = path.basename(file);
  if (!name.includes('\ufffd')) return false;
  const names: string[] = await readdir(path.dirname(file)).catch(() => []);
  return names.includes(name) && !(await lstat(file).catch(() => undefined));
}

/** Copies the file behind a link; false if there is none. */
async function copyLinked(from: string, to: string): Promise<boolean> {
  const found = await stat(from).catch(() => undefined); // reported as left out
  if (found?.isFile() !== true) return false;
  await copyAlone({ from, to, mtime: found.mtime });
  return true;
}

interface FileToCopy {
  from: string;
  to: string;
  mtime: Date;
}

async function copyAlone({ from, to, mtime }: FileToCopy): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await utimes(to, mtime, mtime);
}

async function linkOrCopy(file: FileToCopy, { link: toLink }: LinkDeps): Promise<void> {
  try {
    await toLink(file.from, file.to);
  } catch (error) {
    if (!isUnlinkable(error)) throw error;
    await copyAlone(file);
  }
}

/** The disk has no links, such as a memory stick, or the names are on two disks, or it has too many links, or another owner. */
export const isUnlinkable = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK'].some((code) => hasCode(error, code));

/** All files below a folder, relative to it, in a fixed order. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
