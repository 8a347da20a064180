import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { hasWay, wayOf } from '../tools/files/held-folder.ts';

/** More folders than this between a working directory and the root of its repository are not looked at. */
const MAX_LEVELS = 20;

/**
 * The folders of a project, nearest first: from the working directory up to the root of its repository. Only the working
 * directory, if it is in none.
 */
export async function findProjectFolders(workdir: string): Promise<string[]> {
  const folders = [workdir];
  for (let parent = path.dirname(workdir); folders.length <= MAX_LEVELS && parent !== folders.at(-1); ) {
    folders.push(parent);
    parent = path.dirname(parent);
  }
  // All at once: every run waits for this.
  const areRoots = await Promise.all(folders.map((folder) => exists(path.join(folder, '.git'))));
  const root = areRoots.indexOf(true);
  return root < 0 ? [workdir] : folders.slice(0, root + 1);
}

const exists = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false, // missing or out of reach
  );

interface FileStart {
  bytes: Buffer;
  /** The size of the whole file. */
  size: number;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads the beginning of a plain file at a path without links. Undefined if there is none, or if a link leads to it: a
 * link could show the model a file that lies elsewhere.
 */
export async function readFileStart(file: string, maxBytes: number): Promise<FileStart | undefined> {
  try {
    await using handle = await open(file, FLAGS);
    const stats = await handle.stat();
    if (!stats.isFile() || (await whereIs(handle, file)) !== file) return undefined;
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(maxBytes, stats.size)), { position: 0 });
    return { bytes: buffer.subarray(0, bytesRead), size: stats.size };
  } catch {
    return undefined; // missing, a link, or unreadable
  }
}

const whereIs = async (handle: FileHandle, file: string): Promise<string> =>
  realpath((await hasWay(handle)) ? wayOf(handle) : file);
