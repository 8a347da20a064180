import { type Entry, isSameEntry } from './entry.ts';

/** What lies in a folder, sorted by name. Snapshots of older versions have no permissions of folders. */
export type TreeItem = { name: string } & (Entry | { kind: 'folder'; hash: string; mode?: number });

/** The same bytes for the same folder, so that its hash names it. */
export const encodeTree = (items: readonly TreeItem[]): Buffer => Buffer.from(JSON.stringify(items.map(toRow)));

/** One character per kind, because a snapshot has a row for every file. */
const toRow = (item: TreeItem): unknown[] => {
  if (item.kind === 'file') return ['f', item.name, item.mode, item.hash, item.size];
  if (item.kind === 'link') return ['l', item.name, item.target];
  if (item.kind === 'folder') return ['d', item.name, item.hash, ...(item.mode === undefined ? [] : [item.mode])];
  return ['x', item.name, item.reason];
};

function decodeTree(bytes: Buffer): TreeItem[] {
  const rows: [string, string, ...unknown[]][] = JSON.parse(bytes.toString());
  return rows.map(([kind, name, ...rest]) => toItem(kind, name, rest));
}

function toItem(kind: string, name: string, [first, hash, size]: readonly unknown[]): TreeItem {
  if (kind === 'f') return { kind: 'file', name, mode: Number(first), hash: String(hash), size: Number(size) };
  if (kind === 'l') return { kind: 'link', name, target: String(first) };
  if (kind === 'd')
    return { kind: 'folder', name, hash: String(first), ...(hash !== undefined && { mode: Number(hash) }) };
  return { kind: 'left_out', name, reason: first === 'size' || first === 'total' ? first : 'unreadable' };
}

/** Reads trees by their hash. */
export interface TreeReader {
  get(hash: string): Buffer;
}

/** A path whose content differs between two trees. */
export interface Difference {
  path: string;
  before: Entry | undefined;
  after: Entry | undefined;
  /** The permissions of the folders on the way, as they are afterwards; null: unknown. */
  folderModes: readonly (number | null)[];
}

interface Way {
  path: string;
  folderModes: readonly (number | null)[];
}

/** What differs between two trees; undefined: an empty one. Equal folders are not read. */
export function* differences(
  reader: TreeReader,
  [before, after]: readonly [string | undefined, string | undefined],
  { path: folder, folderModes }: Way = { path: '', folderModes: [] },
): Generator<Difference> {
  if (before === after) return;
  const [old, now] = [itemsOf(reader, before), itemsOf(reader, after)];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(name), now.get(name)];
    const path = `${folder}${name}`;
    // What is now in a folder that cannot be read is unknown, so nothing in it counts as removed.
    if (is?.kind !== 'left_out') {
      const modes = [...folderModes, is?.kind === 'folder' ? (is.mode ?? null) : null];
      yield* differences(reader, [folderOf(was), folderOf(is)], { path: `${path}/`, folderModes: modes });
    }
    const [one, other] = [entryOf(was), entryOf(is)];
    const isUnknown = one?.kind === 'left_out' && other?.kind === 'left_out';
    if (!isUnknown && !isSameEntry(one, other)) yield { path, before: one, after: other, folderModes };
  }
}

const folderOf = (item: TreeItem | undefined) => (item?.kind === 'folder' ? item.hash : undefined);

function entryOf(item: TreeItem | undefined): Entry | undefined {
  if (!item || item.kind === 'folder') return undefined;
  const { name: _, ...entry } = item;
  return entry;
}

export const itemsOf = (reader: TreeReader, tree: string | undefined): Map<string, TreeItem> =>
  new Map(tree === undefined ? [] : decodeTree(reader.get(tree)).map((item) => [item.name, item]));

/** The hashes of a tree and everything in it. */
export function addAllHashes(reader: TreeReader, tree: string, into: Set<string>): void {
  if (into.has(tree)) return;
  into.add(tree);
  for (const item of decodeTree(reader.get(tree))) {
    if (item.kind === 'folder') addAllHashes(reader, item.hash, into);
    else if (item.kind === 'file') into.add(item.hash);
  }
}

/** What a tree does not hold, in the order of its paths. */
export function* leftOutOf(
  reader: TreeReader,
  tree: string,
  folder = '',
): Generator<{ path: string; reason: 'size' | 'total' | 'unreadable' }> {
  for (const item of decodeTree(reader.get(tree))) {
    if (item.kind === 'folder') yield* leftOutOf(reader, item.hash, `${folder}${item.name}/`);
    else if (item.kind === 'left_out') yield { path: `${folder}${item.name}`, reason: item.reason };
  }
}
