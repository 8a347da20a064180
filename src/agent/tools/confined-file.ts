import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AllowedPlace, Confinement } from './confinement.ts';
import { ToolProblem } from './tool-problem.ts';

/** Throws if the path leads elsewhere than when the call was prepared (and perhaps approved). */
export async function checkUnmoved(
  place: AllowedPlace,
  { path, workdir, confinement }: { path: string; workdir: string; confinement: Confinement },
): Promise<void> {
  const now = await confinement.locate(path, workdir);
  if (now.kind === 'refused') throw new ToolProblem(now.reason);
  if (now.path !== place.path)
    throw new ToolProblem(`${path} leads elsewhere than when it was checked; nothing was done.`);
}

/** Opens an ordinary file for reading; `place.path` is free of links, so a link found on the way was put there since. */
export async function openConfined(place: AllowedPlace): Promise<{ handle: FileHandle; stats: Stats }> {
  // Without NONBLOCK a pipe would hold us until somebody writes to it.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(place.path, flags).catch((error: unknown) => {
    throw new ToolProblem(`${place.shown}: ${toReason(error)}`);
  });
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new ToolProblem(`${place.shown} is a folder; list_directory shows it.`);
    if (!stats.isFile()) throw new ToolProblem(`${place.shown} is not an ordinary file.`);
    await checkHandle(handle, { path: place.path, shown: place.shown });
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A file's text and what identifies this version of it. */
export interface FileVersion {
  text: string;
  sha256: string;
  mode: number;
  owner: { uid: number; gid: number };
}

const MAX_EDIT_BYTES = 4 * 1024 * 1024;

/** Reads a file that is to be shown or changed as a whole; undefined if there is none. */
export async function readVersion(place: AllowedPlace): Promise<FileVersion | undefined> {
  if (!(await hasEntry(place.path))) return undefined;
  const { handle, stats } = await openConfined(place);
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

/** Asked afresh: `place.exists` is what was true when the call was prepared. */
async function hasEntry(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false, // nothing there
  );
}

/** SHA-256 as it stands in `ToolMessage.files`. */
export function toSha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Replaces or creates the file in one step, so that nobody ever sees half of it; keeps mode and owner of the old one. */
export async function replaceFile(place: AllowedPlace, { text, old }: { text: string; old: FileVersion | undefined }) {
  await mkdir(dirname(place.path), { recursive: true });
  const folder = await openFolder(dirname(place.path), place.shown);
  const temporary = join(folder.path, `.${basename(place.path).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeNew(temporary, { text, old });
    await rename(temporary, join(folder.path, basename(place.path)));
    await folder.handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error instanceof ToolProblem ? error : new ToolProblem(`${place.shown}: ${toReason(error)}`);
  } finally {
    await folder.handle.close();
  }
}

async function writeNew(path: string, { text, old }: { text: string; old: FileVersion | undefined }): Promise<void> {
  const handle = await open(path, 'wx', old?.mode ?? 0o666);
  try {
    await handle.writeFile(text);
    if (old) {
      await handle.chown(old.owner.uid, old.owner.gid).catch(() => undefined); // only root may give a file away
      await handle.chmod(old.mode);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** On Linux the folder is reached through its open handle, so that exchanging a parent for a link changes nothing. */
async function openFolder(path: string, shown: string): Promise<{ handle: FileHandle; path: string }> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch((error: unknown) => {
    throw new ToolProblem(`${shown}: ${toReason(error)}`);
  });
  try {
    await checkHandle(handle, { path, shown });
    const direct = `/proc/self/fd/${handle.fd}`;
    const hasProc = await realpath(direct).then(
      () => true,
      () => false, // not Linux
    );
    return { handle, path: hasProc ? direct : path };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** O_NOFOLLOW guards the last part of a path only; this guards the parts before. */
async function checkHandle(handle: FileHandle, { path, shown }: { path: string; shown: string }): Promise<void> {
  const opened = await realpath(`/proc/self/fd/${handle.fd}`).catch(() => undefined); // not Linux
  const isSame = opened === undefined ? await isSameFile(handle, path) : opened === path;
  if (!isSame) throw new ToolProblem(`${shown} leads elsewhere than when it was checked; nothing was done.`);
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
    throw new ToolProblem(`${shown} is not UTF-8 text.`); // writing it back would change bytes nobody asked to change
  }
}

function toReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known: Record<string, string> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a folder',
    ENOTDIR: 'a part of the path is not a folder',
    ELOOP: 'it leads elsewhere than when it was checked',
    ENOSPC: 'the disk is full',
    EROFS: 'the disk is read-only',
  };
  return known[code] ?? (code || 'unknown error');
}
