import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
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
 * of it. Undefined if a folder on the way is missing, a link or something else; with `make`, missing ones are created.
 */
export function atPlace<T>(
  root: HeldRoot,
  { path, make = false }: { path: string; make?: boolean },
  work: (place: PlaceBelow) => T,
): T | undefined {
  const names = path.split('/');
  const last = names.pop() ?? '';
  let fd = openSync(root.way, O_PATH | constants.O_DIRECTORY);
  let way = HAS_WAYS ? `/proc/self/fd/${fd}` : toBinary(root.path);
  try {
    for (const name of names) {
      const next = step(`${way}/${name}`, make);
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

function step(way: string, make: boolean): number | undefined {
  try {
    return openSync(toPath(way), STEP);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' && make) {
      mkdirSync(toPath(way));
      return openSync(toPath(way), STEP);
    }
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String(code))) return undefined;
    throw error;
  }
}
