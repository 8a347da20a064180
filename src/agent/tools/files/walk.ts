import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { type HeldFolder, hasWay, wayOf } from './held-folder.ts';

interface Below {
  /** Where the walk begins; undefined: at the root of the disk. */
  base: HeldFolder | undefined;
  /** Absolute, in `base`, without links. */
  path: string;
}

/**
 * Opens a folder as a reference only, which needs no right to list it. Node has no constant for it; Linux uses the same
 * value on all architectures.
 */
export const O_PATH = process.platform === 'linux' ? 0o10000000 : 0;
const STEP = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a file or folder step by step from an open folder, so that no name on the way can be replaced by a link: each
 * step opens one name in the folder opened before. Undefined where the system does not support that. Rejects with the
 * system's error.
 */
export async function openBelow({ base, path }: Below, flags: number): Promise<FileHandle | undefined> {
  const names = namesBelow(base, path);
  const last = names.pop();
  const folder = await descend(base, names, { make: false });
  if (!folder) return undefined;
  try {
    if (last === undefined) return await open(wayOf(folder), flags);
    return await open(`${wayOf(folder)}/${last}`, flags | constants.O_NOFOLLOW);
  } finally {
    await folder.close();
  }
}

/** Like `openBelow`, for a folder to list or write to. With `make`, creates missing folders on the way. */
export async function openFolderBelow({ base, path }: Below, how: { make: boolean }): Promise<FileHandle | undefined> {
  const named = await descend(base, namesBelow(base, path), how);
  try {
    return named && (await open(wayOf(named), constants.O_RDONLY | constants.O_DIRECTORY));
  } finally {
    await named?.close();
  }
}

/**
 * Whether something exists at a path below a held folder, if no link is on the way; undefined if there is a link or the
 * walk is not supported. The answer is about the folder itself, even if it is moved meanwhile.
 */
export async function findStraight(base: HeldFolder, path: string): Promise<{ exists: boolean } | undefined> {
  const names = namesBelow(base, path);
  const last = names.pop();
  try {
    const folder = await descend(base, names, { make: false });
    if (!folder) return undefined;
    try {
      const found = last === undefined ? undefined : await lstat(`${wayOf(folder)}/${last}`);
      return found?.isSymbolicLink() ? undefined : { exists: true };
    } finally {
      await folder.close();
    }
  } catch (error) {
    return isMissing(error) ? { exists: false } : undefined;
  }
}

function namesBelow(base: HeldFolder | undefined, path: string): string[] {
  const names = relative(base?.path ?? '/', path)
    .split(sep)
    .filter(Boolean);
  if (names.includes('..')) throw new Error(`${path} is not below ${base?.path}`);
  return names;
}

async function descend(
  base: HeldFolder | undefined,
  names: readonly string[],
  { make }: { make: boolean },
): Promise<FileHandle | undefined> {
  // Not O_NOFOLLOW, because the path to a held folder is itself a link of the kernel.
  let folder = await open(base?.way ?? '/', O_PATH | constants.O_DIRECTORY);
  try {
    if (!(await hasWay(folder))) {
      await folder.close();
      return undefined;
    }
    for (const name of names) {
      const next = await step(`${wayOf(folder)}/${name}`, make);
      await folder.close();
      folder = next;
    }
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function step(path: string, make: boolean): Promise<FileHandle> {
  try {
    return await open(path, STEP);
  } catch (error) {
    if (!make || !isMissing(error)) throw error;
  }
  await mkdir(path).catch((error: unknown) => {
    if (!isThere(error)) throw error; // created by another process meanwhile
  });
  return open(path, STEP);
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);
/** Whether the error means that nothing exists there. */
export const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';
const isThere = (error: unknown) => codeOf(error) === 'EEXIST';
