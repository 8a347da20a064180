import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';

/** A folder as it is remembered: its real path, and the inode that lay there. */
export interface FolderIdentity {
  path: string;
  /** Decimal. The device is left out: its number may differ after a restart of the machine (decision 14). */
  ino: string;
}

/** A folder that an open handle holds on to: another folder, or a link, put at its path later is not mistaken for it. */
export interface HeldFolder extends FolderIdentity, AsyncDisposable {
  /** For child processes; -1 once it is let go. */
  readonly fd: number;
  /** Leads to this folder, whatever lies at `path` by now. Where the system has no such way (macOS), it is `path`. */
  readonly way: string;
  /** True while `path` leads to this folder, and no part of it is a link. */
  isInPlace(): Promise<boolean>;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Takes hold of the folder at a real path. Rejects with the system's error when there is none. */
export async function holdFolder(path: string): Promise<HeldFolder> {
  const handle = await open(path, FLAGS);
  try {
    const { ino, dev } = await handle.stat({ bigint: true });
    const isReachable = await hasWay(handle);
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
        const [real, now] = await Promise.all([
          realpath(path).catch(() => undefined), // gone counts as moved
          stat(path, { bigint: true }).catch(() => undefined),
        ]);
        return real === path && now?.ino === ino && now.dev === dev;
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A path to what the handle has open, past all names. */
export const wayOf = (handle: Pick<FileHandle, 'fd'>): string => `/proc/self/fd/${handle.fd}`;

/** False where the system has no such paths. */
export async function hasWay(handle: Pick<FileHandle, 'fd'>): Promise<boolean> {
  return realpath(wayOf(handle)).then(
    () => true,
    () => false, // not Linux, or no /proc
  );
}
