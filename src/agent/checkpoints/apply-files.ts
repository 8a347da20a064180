import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type Entry, isSameEntry, toPath } from './entry.ts';
import { lookAtPlace } from './look.ts';
import { atPlace, type PlaceBelow } from './place-below.ts';
import type { FileChange, RootedPath } from './plan-files.ts';
import type { SnapshotRoot } from './snapshot.ts';
import type { TreeReader } from './tree.ts';

/** A change that was not made, and why, in words for people. */
export type NotApplied = RootedPath & { why: string };

interface Applying {
  roots: readonly SnapshotRoot[];
  reader: TreeReader;
  /** Names the temporary files, so that a repeat after a crash replaces them. */
  id: string;
  maxBytes: number;
}

/**
 * Makes the changes, each atomically; files before the folders that they empty, and those that are written last. Changes
 * that are made already are fine, so it can be repeated after a crash. Returns those that were not possible.
 */
export function applyFiles(changes: readonly FileChange[], applying: Applying): NotApplied[] {
  const deletions = changes.filter(({ to }) => to === undefined).toSorted((a, b) => (a.path < b.path ? 1 : -1));
  const writes = changes.filter(({ to }) => to !== undefined);
  return [...deletions, ...writes].flatMap((change) => {
    const why = tryChange(change, applying);
    return why === undefined ? [] : [{ root: change.root, path: change.path, why }];
  });
}

const MOVED = 'it was changed meanwhile';
const NO_FOLDER = 'a folder on the way is missing or a link';

/** Returns why it was not possible. */
function tryChange(change: FileChange, applying: Applying): string | undefined {
  const root = applying.roots[change.root];
  if (!root) return 'its folder is no longer part of the workstream';
  try {
    const { path, to, folderModes = [] } = change;
    const make = to === undefined ? undefined : folderModes;
    const why = atPlace(root, { path, make }, (place) => changeAt(place, change, applying));
    if (why === undefined) return to === undefined ? undefined : NO_FOLDER;
    if (why === DONE && to === undefined) removeEmptied(root, path);
    return why === DONE ? undefined : why;
  } catch (error) {
    return error instanceof Error && 'code' in error ? toReason(String(error.code)) : String(error);
  }
}

const DONE = 'done';

function changeAt(place: PlaceBelow, { from, to }: FileChange, { reader, id, maxBytes }: Applying): string {
  const temporary = `${place.folder}/.headgate-${id}.tmp`;
  rmSync(toPath(temporary), { force: true });
  const { entry } = lookAtPlace(place, maxBytes);
  if (isSameEntry(entry, to)) return DONE;
  const isExpected = isSameEntry(entry, from) || (entry?.kind === 'left_out' && from?.kind === 'left_out');
  if (!isExpected) return MOVED;
  if (to === undefined) unlinkSync(toPath(place.path));
  else {
    try {
      write(temporary, to, { reader, place });
      renameSync(toPath(temporary), toPath(place.path));
    } catch (error) {
      rmSync(toPath(temporary), { force: true });
      throw error;
    }
  }
  return DONE;
}

function write(
  temporary: string,
  entry: Entry,
  { reader, place }: Pick<Applying, 'reader'> & { place: PlaceBelow },
): void {
  if (entry.kind === 'link') symlinkSync(toPath(entry.target), toPath(temporary));
  if (entry.kind !== 'file') return;
  const content = reader.get(entry.hash);
  const fd = openSync(toPath(temporary), 'wx', 0o600);
  try {
    writeFileSync(fd, content);
    keepOwner(fd, place);
    fchmodSync(fd, entry.mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The owner of the file that is replaced, or of its folder. Only root may give files to others. */
function keepOwner(fd: number, { path, folder }: PlaceBelow): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = lstatSync(toPath(path), { throwIfNoEntry: false }) ?? lstatSync(toPath(`${folder}/.`));
  fchownSync(fd, uid, gid);
}

/** Like Git, which knows no empty folders. */
function removeEmptied(root: SnapshotRoot, path: string): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const isRemoved = atPlace(root, { path: path.slice(0, end) }, (place) => {
      try {
        rmdirSync(toPath(place.path));
        return true;
      } catch {
        return false; // something else is in it
      }
    });
    if (isRemoved !== true) return;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'a folder is in its place',
  ENOTEMPTY: 'a folder is in its place',
  EEXIST: 'something is in its place',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
};

const toReason = (code: string): string => REASONS[code] ?? code;
