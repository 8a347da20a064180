import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { toBinary, toPath } from './entry.ts';

/** A held folder: its path, and the one that leads to it even if it was renamed. */
interface HeldRoot {
  path: string;
  way: string;
}

/** A name in an open folder. */
export interface PlaceBelow {
  /** The path of the name, in bytes. */
  path: string;
  folder: string;
}

const HAS_WAYS = process.platform === 'linux';
/** Opens a folder as a reference only; the value on Linux, for which Node has no constant. */
const O_PATH = HAS_WAYS ? 0o10000000 : 0;
const STEP = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Calls `work` with the place of a path below a held folder, whose folders are opened one by one, so that no link can lead out
 * of it. Undefined if a folder on the way is missing, a link or something else; with `make`, missing ones are created with
 * these permissions, or only for the daemon's user.
 */
export function atPlace<T>(
  root: HeldRoot,
  { path, make }: { path: string; make?: readonly (number | null)[] | undefined },
  work: (place: PlaceBelow) => T,
): T | undefined {
  const names = path.split('/');
  const last = names.pop() ?? '';
  let fd = openSync(root.way, O_PATH | constants.O_DIRECTORY);
  let way = HAS_WAYS ? `/proc/self/fd/${fd}` : toBinary(root.path);
  try {
    for (const [index, name] of names.entries()) {
      const next = step(`${way}/${name}`, make && (make[index] ?? PRIVATE));
      if (next === undefined) return undefined;
      closeSync(fd);
      fd = next;
      way = HAS_WAYS ? `/proc/self/fd/${fd}` : `${way}/${name}`;
    }
    return work({ path: `${way}/${last}`, folder: way });
  } finally {
    closeSync(fd);
  }
}

const PRIVATE = 0o700;

/** `make`: the permissions of the folder if it is missing. Its user may always work in it. */
function step(way: string, make: number | undefined): number | undefined {
  try {
    return openSync(toPath(way), STEP);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' && make !== undefined) {
      mkdirSync(toPath(way), { mode: PRIVATE });
      const fd = openSync(toPath(way), STEP);
      setUp(fd, { mode: make | PRIVATE, above: statSync(toPath(`${way}/..`)) });
      return fd;
    }
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String(code))) return undefined;
    throw error;
  }
}

/** Through the open folder, whose name may lead elsewhere by now. Only root may give folders to others. */
function setUp(fd: number, { mode, above: { uid, gid } }: { mode: number; above: Stats }): void {
  const isRoot = process.getuid?.() === 0;
  if (HAS_WAYS) {
    if (isRoot) chownSync(`/proc/self/fd/${fd}`, uid, gid);
    chmodSync(`/proc/self/fd/${fd}`, mode);
  } else {
    if (isRoot) fchownSync(fd, uid, gid);
    fchmodSync(fd, mode);
  }
}
