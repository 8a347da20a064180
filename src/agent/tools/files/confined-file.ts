import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { ToolProblem } from '../tool-problem.ts';
import type { Workdir } from '../workdir.ts';
import { type AllowedPlace, type Confinement, isHardLinked } from './confinement.ts';
import { wayOf } from './held-folder.ts';
import { isMissing, openBelow, openFolderBelow } from './walk.ts';

/** Throws if the path leads elsewhere than when the call was prepared (and perhaps approved). */
export async function checkUnmoved(
  place: AllowedPlace,
  { path, workdir, confinement }: { path: string; workdir: Workdir; confinement: Confinement },
): Promise<void> {
  const now = await confinement.locate(path, workdir);
  if (now.kind === 'refused') throw new ToolProblem(now.reason);
  if (now.path !== place.path)
    throw new ToolProblem(`${path} leads to another place than when it was checked; nothing was done.`);
}

/** Opens a regular file for reading. `place.path` had no links, so a link found now was created since. */
export async function openConfined(place: AllowedPlace): Promise<{ handle: FileHandle; stats: Stats }> {
  const handle = await openPlace(place).catch((error: unknown) => {
    throw toProblem(place, error);
  });
  return checkFile(place, handle);
}

async function checkFile(place: AllowedPlace, handle: FileHandle): Promise<{ handle: FileHandle; stats: Stats }> {
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new ToolProblem(`${place.shown} is a folder; list_directory shows it.`);
    if (!stats.isFile()) throw new ToolProblem(`${place.shown} is not an ordinary file.`);
    if (isHardLinked(stats) && !place.isSecret)
      throw new ToolProblem(`${place.shown} has become a hard link; try again.`);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

// Without NONBLOCK, opening a named pipe would block until something writes to it.
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

async function openPlace(place: AllowedPlace): Promise<FileHandle> {
  return (await openBelow(place, READ)) ?? openByName(place, READ);
}

/** Opens a folder for listing, or with `make` for creating files in it. */
export async function openConfinedFolder(
  place: Pick<AllowedPlace, 'base' | 'path' | 'shown'>,
  { make }: { make: boolean },
): Promise<OpenFolder> {
  try {
    const handle = await openFolderBelow(place, { make });
    if (handle) return { handle, way: wayOf(handle) };
    if (make) await mkdir(place.path, { recursive: true });
    return { handle: await openByName(place, constants.O_RDONLY | constants.O_DIRECTORY), way: place.path };
  } catch (error) {
    throw toProblem(place, error);
  }
}

interface OpenFolder {
  handle: FileHandle;
  /** The path by which its entries are reached, even if the folder is renamed. */
  way: string;
}

/** Opens by name where a walk is not possible (macOS), and compares the result with what was checked. */
async function openByName(
  { path, shown, base }: Pick<AllowedPlace, 'base' | 'path' | 'shown'>,
  flags: number,
): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NOFOLLOW);
  try {
    const isSame = (await isSameFile(handle, path)) && (base === undefined || (await base.isInPlace()));
    if (!isSame) throw leadsElsewhere(shown);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const leadsElsewhere = (shown: string) =>
  new ToolProblem(`${shown} leads to another place than when it was checked; nothing was done.`);

/** The errors for a path that had no links but now has one, or has a file instead of a folder. */
const EXCHANGED = ['ELOOP', 'ENOTDIR'];

/** The system's error about a path, in words for the model. */
export function toProblem({ shown }: Pick<AllowedPlace, 'shown'>, error: unknown): ToolProblem {
  if (error instanceof ToolProblem) return error;
  return EXCHANGED.includes(codeOf(error)) ? leadsElsewhere(shown) : new ToolProblem(`${shown}: ${toReason(error)}`);
}

/** A file's text and what identifies this version. */
export interface FileVersion {
  text: string;
  sha256: string;
  mode: number;
  owner: { uid: number; gid: number };
}

const MAX_EDIT_BYTES = 4 * 1024 * 1024;

/** Reads a file that is shown or changed as a whole; undefined if it does not exist. */
export async function readVersion(place: AllowedPlace): Promise<FileVersion | undefined> {
  const file = await openIfThere(place);
  if (!file) return undefined;
  const { handle, stats } = file;
  try {
    if (stats.size > MAX_EDIT_BYTES)
      throw new ToolProblem(`${place.shown} is too large to change (${stats.size} bytes).`);
    const bytes = await handle.readFile();
    const owner = { uid: stats.uid, gid: stats.gid };
    return { text: decode(bytes, place.shown), sha256: toSha256(bytes), mode: stats.mode & 0o7777, owner };
  } finally {
    await handle.close();
  }
}

/** `place.exists` was true at preparation, but the file may be gone now. */
async function openIfThere(place: AllowedPlace) {
  const handle = await openPlace(place).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw toProblem(place, error);
  });
  return handle && checkFile(place, handle);
}

/** The SHA-256 in the form used by `ToolMessage.files`. */
export function toSha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function isSameFile(handle: FileHandle, path: string): Promise<boolean> {
  if ((await realpath(path)) !== path) return false;
  const [opened, named] = await Promise.all([handle.stat(), lstat(path)]);
  return opened.ino === named.ino && opened.dev === named.dev;
}

function decode(bytes: Buffer, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolProblem(`${shown} is not UTF-8 text.`); // writing it back would change other bytes
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

function toReason(error: unknown): string {
  const code = codeOf(error);
  const known: Record<string, string> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a folder',
    ENOSPC: 'the disk is full',
    EROFS: 'the disk is read-only',
  };
  return known[code] ?? (code || 'unknown error');
}
