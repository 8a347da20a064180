import { type Entry, isSameEntry, toBinary } from './entry.ts';
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
    const [before, after] = [treeOf(path, entry, adder), treeOf(path, to, adder)];
    return { kind: 'kept', before, after, change: { root: at.root, path, from: entry, to } };
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

/** A tree in which there is nothing but this path. */
function treeOf(path: string, entry: Entry | undefined, adder: Adder): string {
  const names = path.split('/');
  let items: TreeItem[] = entry ? [{ name: names.at(-1) ?? '', ...entry }] : [];
  for (const name of names.slice(0, -1).toReversed())
    items = items.length === 0 ? [] : [{ kind: 'folder', name, hash: adder.add(encodeTree(items)) }];
  return adder.add(encodeTree(items));
}
