import { constants, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isOnLocalDisks } from './local-disks.ts';

/** The identity of a folder: its real path and inode. */
export interface FolderIdentity {
  path: string;
  /** Decimal. The device is left out, because its number may change when the machine restarts (decision 14). */
  ino: string;
}

/**
 * A folder held by an open handle, so that another folder or a link created at its path later is not mistaken for it.
 */
export interface HeldFolder extends FolderIdentity, AsyncDisposable {
  /** For child processes; -1 after it is closed. */
  readonly fd: number;
  /**
   * A path that leads to this folder, even if another folder lies at `path` by now. On systems without such paths
   * (macOS) it is `path`.
   */
  readonly way: string;
  /** True while `path` leads to this folder and contains no links. */
  isInPlace(): Promise<boolean>;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens and holds the folder at a real path. Rejects with the system's error if there is none. */
export async function holdFolder(path: string, isLocal = isOnLocalDisks): Promise<HeldFolder> {
  const handle = await open(path, FLAGS);
  try {
    const { ino, dev } = await handle.stat({ bigint: true });
    const isReachable = await hasWay(handle);
    const findNow = (await isLocal(path)) ? findAtOnce : findPatiently;
    return {
      path,
      ino: String(ino),
      get fd() {
        return handle.fd;
      },
      get way() {
        return isReachable ? wayOf(handle) : path;
      },
      async isInPlace() {
        const now = await findNow(path);
        return now?.real === path && now.ino === ino && now.dev === dev;
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface FoundFolder {
  /** The path without links. */
  real: string;
  ino: bigint;
  dev: bigint;
}

/** What is at a path, without a trip through Node's threads; only for local disks. Every turn and tool call asks. */
function findAtOnce(path: string): FoundFolder | undefined {
  try {
    const { ino, dev } = statSync(path, { bigint: true });
    return { real: realpathSync.native(path), ino, dev };
  } catch {
    return undefined; // missing
  }
}

async function findPatiently(path: string): Promise<FoundFolder | undefined> {
  try {
    const [real, { ino, dev }] = await Promise.all([realpath(path), stat(path, { bigint: true })]);
    return { real, ino, dev };
  } catch {
    return undefined; // missing
  }
}

/** A path to what the handle has open, independent of its name. */
export const wayOf = (handle: Pick<FileHandle, 'fd'>): string => `/proc/self/fd/${handle.fd}`;

/**
 * False on systems without such paths. Not by `realpath`, which looks up the name of what is open and fails while that is being
 * renamed: callers would then go by names, too, in the very moment in which names lead elsewhere.
 */
export async function hasWay(handle: Pick<FileHandle, 'fd'>): Promise<boolean> {
  return stat(wayOf(handle)).then(
    () => true,
    () => false, // not Linux, or no /proc
  );
}
