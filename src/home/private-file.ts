import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/**
 * The text of a file that only its owner may read; undefined if it does not exist. A file that others can read, a link or
 * a folder is an error that says what to do.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await openFile(path);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a file; move it away and start again`);
    if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8);
      throw new Error(`${path} can be read by other users (mode ${mode}); run: chmod 600 '${path}'`);
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    const problem = hasCode(error, 'ELOOP') ? 'is a symbolic link' : 'cannot be read';
    throw new Error(`${path} ${problem}`, { cause: error });
  }
}

/**
 * The text of a file, perhaps behind a link. Something else, such as a pipe, which could make this wait forever, or a device
 * without an end, is an error.
 */
export async function readPlainFile(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw new Error('it is not a file');
  return await file.readFile('utf8');
}

/** Whether a system call failed with this code (`ENOENT`, `EEXIST`, …). */
export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
