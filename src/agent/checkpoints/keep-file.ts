import { lstatSync, statSync } from 'node:fs';
import { type Entry, isSameEntry, MODE_BITS, toBinary, toPath } from './entry.ts';
import { lookAt } from './look.ts';
import type { Adder, ObjectStore } from './object-store.ts';
import type { FileChange, RootedPath } from './plan-files.ts';
import { markOf } from './seen-mark.ts';
import type { SnapshotLimits, SnapshotRoot } from './snapshot.ts';
import { encodeTree, type TreeItem } from './tree.ts';

/** What a file should become; undefined: it should be gone. */
export type WantedContent =
  | { kind: 'file'; content: Uint8Array; isExecutable: boolean }
  | { kind: 'link'; target: string }
  | undefined;

export interface KeepRequest {
  root: SnapshotRoot;
  at: RootedPath;
  /** What a person saw there (`markOf`). */
  seen: string;
  wanted: WantedContent;
  limits: Pick<SnapshotLimits, 'maxFileBytes' | 'maxTotalBytes'>;
}

/** `size` and `total`: the contents do not fit into the limits. */
export type KeptFile =
  | { kind: 'kept'; before: string; after: string; change: FileChange }
  | { kind: 'same' }
  | { kind: 'refused'; reason: 'changed' | 'size' | 'total' };

/** Stores what is at a path and what should be there, as two snapshots of this file alone. Changes nothing on disk. */
export function keepFile({ root, at, seen, wanted, limits }: KeepRequest, objects: ObjectStore): KeptFile {
  const path = toBinary(at.path);
  const { entry, content } = lookAt(root, path, limits.maxFileBytes);
  if (entry?.kind === 'left_out' && entry.reason === 'size') return { kind: 'refused', reason: 'size' };
  if (markOf(entry) !== seen) return { kind: 'refused', reason: 'changed' };
  const bytes = wanted?.kind === 'file' ? Buffer.from(wanted.content) : undefined;
  if (bytes && bytes.length > limits.maxFileBytes) return { kind: 'refused', reason: 'size' };
  return objects.adding((adder) => {
    const needed = [content, bytes].reduce((sum, each = Buffer.alloc(0)) => sum + each.length, 0);
    if (adder.bytes() + needed > limits.maxTotalBytes) return { kind: 'refused', reason: 'total' };
    if (content) adder.add(content);
    const to = toEntry(wanted, entry, bytes && { hash: adder.add(bytes), size: bytes.length });
    if (isSameEntry(entry, to)) return { kind: 'same' };
    const names = namesOf(root, path);
    const [before, after] = [treeOf(names, entry, adder), treeOf(names, to, adder)];
    const folderModes = names.folders.map(({ mode }) => mode);
    return { kind: 'kept', before, after, change: { root: at.root, path, from: entry, to, folderModes } };
  });
}

function toEntry(
  wanted: WantedContent,
  now: Entry | undefined,
  stored: { hash: string; size: number } | undefined,
): Entry | undefined {
  if (wanted?.kind === 'link') return { kind: 'link', target: wanted.target };
  if (!wanted || !stored) return undefined;
  return { kind: 'file', mode: modeOf(wanted.isExecutable, now), ...stored };
}

/** Git knows only whether the owner may execute a file. Its other permissions stay. */
function modeOf(isExecutable: boolean, now: Entry | undefined): number {
  if (now?.kind !== 'file') return isExecutable ? 0o755 : 0o644;
  if (((now.mode & 0o100) !== 0) === isExecutable) return now.mode;
  return isExecutable ? now.mode | ((now.mode & 0o444) >> 2) : now.mode & ~0o111;
}

interface Names {
  folders: { name: string; mode: number }[];
  file: string;
}

/** The names of a path, with the permissions of its folders; missing ones get those of the folder above. */
function namesOf({ way }: SnapshotRoot, path: string): Names {
  const names = path.split('/');
  let mode = statSync(way).mode & MODE_BITS;
  const folders = names.slice(0, -1).map((name, index) => {
    const folder = [toBinary(way), ...names.slice(0, index + 1)].join('/');
    const stats = lstatSync(toPath(folder), { throwIfNoEntry: false });
    if (stats?.isDirectory()) mode = stats.mode & MODE_BITS;
    return { name, mode };
  });
  return { folders, file: names.at(-1) ?? '' };
}

/** A tree in which there is nothing but this path. */
function treeOf({ folders, file }: Names, entry: Entry | undefined, adder: Adder): string {
  let items: TreeItem[] = entry ? [{ name: file, ...entry }] : [];
  for (const folder of folders.toReversed())
    items = items.length === 0 ? [] : [{ kind: 'folder', ...folder, hash: adder.add(encodeTree(items)) }];
  return adder.add(encodeTree(items));
}
