import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { hasWay, wayOf } from './held-folder.ts';
import { isOnLocalDisks } from './local-disks.ts';

/** Chooses how to look at files: at once where the disk is local, otherwise patiently. */
export interface LooksByPlace {
  /** For a folder, what it contains, and the folders above it. */
  at(folder: string): FileLooks | Promise<FileLooks>;
}

/** Remembers the folders. A remote disk that is mounted over one of them later is not noticed. */
export function createLooks(): LooksByPlace {
  const known = new Map<string, FileLooks>();
  return {
    at(folder) {
      return known.get(folder) ?? find(folder);
    },
  };

  async function find(folder: string): Promise<FileLooks> {
    const looks = (await isOnLocalDisks(folder)) ? promptLooks : patientLooks;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(folder, looks);
    return looks;
  }
}

const MAX_KNOWN = 1_000;

/** Short looks at files and folders. None of them fails: what is out of reach counts as missing. */
export interface FileLooks {
  isThere(place: string): boolean | Promise<boolean>;
  isFolder(place: string): boolean | Promise<boolean>;
  /** The path without links; the given one if there is nothing. */
  realOf(place: string): string | Promise<string>;
  /**
   * Reads the beginning of a plain file at a path without links. Undefined if there is none, or if a link leads to it: a
   * link could show the model a file that lies elsewhere.
   */
  readStart(file: string, maxBytes: number): FileStart | undefined | Promise<FileStart | undefined>;
  /** The names of what a folder contains, in any order; at most `most` of them. */
  namesIn(folder: string, most: number): string[] | Promise<string[]>;
}

export interface FileStart {
  bytes: Buffer;
  /** The size of the whole file. */
  size: number;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Answers at once, in a tenth of the processor time of a trip through Node's threads. Only for local disks: a disk that
 * does not answer would stop the daemon.
 */
export const promptLooks: FileLooks = {
  isThere: (place) => lstatOf(place) !== undefined,
  isFolder: (place) => lstatOf(place)?.isDirectory() ?? false,
  realOf: (place) => realPathOf(place) ?? path.resolve(place),
  readStart(file, maxBytes) {
    if (lstatOf(file) === undefined) return undefined; // mostly, and far cheaper than the error of `openSync`
    try {
      return readOpened(openSync(file, FLAGS), file, maxBytes);
    } catch {
      return undefined; // gone meanwhile, a link, or unreadable
    }
  },
  namesIn(folder, most) {
    const names: string[] = [];
    if (lstatOf(folder) === undefined) return names; // as above
    try {
      using entries = opendirSync(folder);
      for (let entry = entries.readSync(); entry && names.length < most; entry = entries.readSync())
        names.push(entry.name);
    } catch {
      // Gone meanwhile, a file, or unreadable.
    }
    return names;
  },
};

function lstatOf(place: string) {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined; // out of reach
  }
}

/** Undefined if the path leads nowhere. */
function realPathOf(place: string): string | undefined {
  try {
    return realpathSync.native(place);
  } catch {
    return undefined;
  }
}

function readOpened(fd: number, file: string, maxBytes: number): FileStart | undefined {
  try {
    const stats = fstatSync(fd);
    const real = realPathOf(wayOf({ fd })) ?? realPathOf(file); // without /proc, the path must do
    if (!stats.isFile() || real !== file) return undefined;
    const bytes = Buffer.alloc(Math.min(maxBytes, stats.size));
    return { bytes: bytes.subarray(0, readSync(fd, bytes, { position: 0 })), size: stats.size };
  } finally {
    closeSync(fd);
  }
}

/** Waits in Node's threads, for disks that may be slow to answer. */
export const patientLooks: FileLooks = {
  isThere: async (place) => (await lstatLater(place)) !== undefined,
  isFolder: async (place) => (await lstatLater(place))?.isDirectory() ?? false,
  realOf: (place) => realpath(place).catch(() => path.resolve(place)), // not there
  async readStart(file, maxBytes) {
    try {
      await using handle = await open(file, FLAGS);
      const stats = await handle.stat();
      if (!stats.isFile() || (await whereIs(handle, file)) !== file) return undefined;
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(maxBytes, stats.size)), { position: 0 });
      return { bytes: buffer.subarray(0, bytesRead), size: stats.size };
    } catch {
      return undefined; // missing, a link, or unreadable
    }
  },
  async namesIn(folder, most) {
    const names: string[] = [];
    try {
      await using entries = await opendir(folder);
      for (let entry = await entries.read(); entry && names.length < most; entry = await entries.read())
        names.push(entry.name);
    } catch {
      // Missing, a file, or unreadable.
    }
    return names;
  },
};

const lstatLater = (place: string) => lstat(place).catch(() => undefined); // missing or out of reach

const whereIs = async (handle: FileHandle, file: string): Promise<string> =>
  realpath((await hasWay(handle)) ? wayOf(handle) : file);
