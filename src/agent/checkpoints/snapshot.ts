import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { IGNORE_FILE } from '../project/project-places.ts';
import { type Entry, type LeftOutReason, MODE_BITS, toBinary, toPath, toShownPath } from './entry.ts';
import { type IgnoreRules, readRules, rulesAbove } from './ignore-rules.ts';
import { type Adder, hashOf, type ObjectStore } from './object-store.ts';
import type { Seen, StatCache } from './stat-cache.ts';
import { encodeTree, itemsOf, type TreeItem } from './tree.ts';

/** A folder to take a snapshot of. */
export interface SnapshotRoot {
  /** Its path, and the one that leads to the held folder even if it was renamed. */
  path: string;
  way: string;
}

export interface SnapshotLimits {
  /** Of one file. */
  maxFileBytes: number;
  /** Of everything that is stored for the workstream. */
  maxTotalBytes: number;
  /** Folders with more are left alone. */
  maxFiles: number;
  maxMs: number;
}

export interface SnapshotRequest {
  root: SnapshotRoot;
  limits: SnapshotLimits;
  /** Never looked into: the daemon's home. */
  home: string;
  /**
   * The tree that the snapshot is compared with. What is in it stays in, even if it is ignored by now; what its rules
   * ignore stays out. Otherwise a changed .gitignore would look like files that come or go.
   */
  base?: string | undefined;
}

/** Why there is no snapshot of a folder. */
export type NoSnapshot = 'files' | 'time';

export type Snapshot =
  | { kind: 'taken'; tree: string; files: number; leftOut: number }
  | { kind: 'none'; reason: NoSnapshot };

class TooMuch extends Error {
  readonly reason: NoSnapshot;
  constructor(reason: NoSnapshot) {
    super(reason);
    this.reason = reason;
  }
}

/** Time is passed in, for the limit and for the age of files. */
interface Tools {
  objects: ObjectStore;
  stats: StatCache;
  now(): number;
}

/** Takes a snapshot of a folder: of everything except `.git`, what Git ignores, special files and empty folders. */
export function takeSnapshot(request: SnapshotRequest, { objects, stats, now }: Tools): Snapshot {
  try {
    return objects.adding((adder) => {
      const walk = new Walk(request, { objects, adder, stats, now });
      const tree = walk.root();
      stats.keep(request.root.path, walk.seen);
      return { kind: 'taken', tree, files: walk.files, leftOut: walk.leftOut };
    });
  } catch (error) {
    if (error instanceof TooMuch) return { kind: 'none', reason: error.reason };
    throw error;
  }
}

interface Folder {
  /** Its path below the root, in bytes; ends with a slash except at the root. */
  path: string;
  way: string;
  now: IgnoreRules;
  /** The rules of the base; the same object if they have not differed so far. */
  old: IgnoreRules;
  base: Map<string, TreeItem>;
  /** It is ignored itself: only what is in the base counts. */
  isIgnored: boolean;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Without NONBLOCK, opening a named pipe would block.
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Whether an open folder can be reached by its number, so that no name on the way can be exchanged. */
const HAS_WAYS = process.platform === 'linux';

class Walk {
  readonly #request: SnapshotRequest;
  readonly #tools: Tools & { adder: Adder };
  readonly #endMs: number;
  readonly #home: string;
  readonly seen = new Map<string, Seen>();
  files = 0;
  leftOut = 0;

  constructor(request: SnapshotRequest, tools: Tools & { adder: Adder }) {
    this.#request = request;
    this.#tools = tools;
    this.#endMs = tools.now() + request.limits.maxMs;
    this.#home = request.home.startsWith(`${request.root.path}/`)
      ? toBinary(request.home.slice(request.root.path.length + 1))
      : '';
  }

  root(): string {
    const { root, base } = this.#request;
    const rules = rulesAbove(root.path);
    // Not NOFOLLOW, because the way to a held folder is itself a link of the kernel.
    const fd = openSync(root.way, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const way = HAS_WAYS ? `/proc/self/fd/${fd}` : toBinary(root.path);
      const items = this.#folder({
        path: '',
        way,
        now: rules,
        old: rules,
        isIgnored: false,
        base: itemsOf(this.#tools.objects, base),
      });
      return this.#tools.adder.add(encodeTree(items));
    } finally {
      closeSync(fd);
    }
  }

  #folder(folder: Folder): TreeItem[] {
    if (this.#tools.now() > this.#endMs) throw new TooMuch('time');
    const names: Dirent<string>[] = readdirSync(toPath(folder.way), { withFileTypes: true, encoding: 'latin1' });
    const hasRules = names.some(({ name }) => name === IGNORE_FILE) || folder.base.has(IGNORE_FILE);
    const inside = hasRules ? this.#withRules(folder) : folder;
    names.sort((a, b) => (a.name < b.name ? -1 : 1));
    return names.flatMap((each) => this.#item(each, inside) ?? []);
  }

  /** With the .gitignore of the folder itself, as it is and as it was. */
  #withRules(folder: Folder): Folder {
    const { path, way, now, old, base } = folder;
    const known = base.get(IGNORE_FILE);
    const text = readRules(toPath(`${way}/${IGNORE_FILE}`));
    if (this.#request.base === undefined) {
      const rules = now.with(text, toShownPath(path));
      return { ...folder, now: rules, old: rules };
    }
    const oldText = known?.kind === 'file' ? this.#tools.objects.get(known.hash).toString('utf8') : undefined;
    const rules = now.with(text, toShownPath(path));
    const isSame = now === old && text === oldText;
    return { ...folder, now: rules, old: isSame ? rules : old.with(oldText, toShownPath(path)) };
  }

  #item(dirent: Dirent<string>, folder: Folder): TreeItem | undefined {
    const { name } = dirent;
    const path = `${folder.path}${name}`;
    if (name === '.git' || (this.#home !== '' && path === this.#home)) return undefined;
    const known = folder.base.get(name);
    const isFolder = dirent.isDirectory();
    const isIgnored = folder.isIgnored || isIgnoredBy(folder, `${toShownPath(path)}${isFolder ? '/' : ''}`);
    if (isIgnored && known === undefined) return undefined;
    if (isFolder) return this.#below(dirent, { ...folder, isIgnored }, known);
    const entry = this.#entry(dirent, path, folder);
    return entry && { name, ...entry };
  }

  #entry(dirent: Dirent<string>, path: string, { way }: Folder): Entry | undefined {
    const at = `${way}/${dirent.name}`;
    if (!dirent.isSymbolicLink() && !dirent.isFile()) return undefined;
    const entry = dirent.isFile() ? this.#file(path, at) : readLink(at);
    if (!entry) return undefined;
    this.files += 1;
    if (this.files > this.#request.limits.maxFiles) throw new TooMuch('files');
    if (entry.kind === 'left_out') this.leftOut += 1;
    return entry;
  }

  #below({ name }: Dirent<string>, folder: Folder, known: TreeItem | undefined): TreeItem | undefined {
    const fd = openOrWhyNot(`${folder.way}/${name}`, FOLDER);
    if (fd === 'gone') return undefined;
    if (fd === 'unreadable') {
      this.leftOut += 1;
      return { kind: 'left_out', name, reason: 'unreadable' };
    }
    try {
      const way = HAS_WAYS ? `/proc/self/fd/${fd}` : `${folder.way}/${name}`;
      const base = itemsOf(this.#tools.objects, known?.kind === 'folder' ? known.hash : undefined);
      const items = this.#folder({ ...folder, path: `${folder.path}${name}/`, way, base });
      if (items.length === 0) return undefined;
      const mode = fstatSync(fd).mode & MODE_BITS;
      return { kind: 'folder', name, hash: this.#tools.adder.add(encodeTree(items)), mode };
    } finally {
      closeSync(fd);
    }
  }

  #file(path: string, way: string): Entry | undefined {
    const { stats, adder } = this.#tools;
    const found = lstatOrWhyNot(way);
    if (found === 'unreadable') return { kind: 'left_out', reason: found };
    if (found === 'gone' || !found.isFile()) return undefined;
    const known = stats.find(this.#request.root.path, path, found);
    if (known !== undefined && adder.has(known)) {
      this.#see(path, found, known);
      return { kind: 'file', mode: found.mode & MODE_BITS, hash: known, size: found.size };
    }
    const read = readFile(way, this.#request.limits.maxFileBytes);
    if (read === 'gone') return undefined;
    if (typeof read === 'string') return { kind: 'left_out', reason: read };
    const hash = hashOf(read.content);
    if (!adder.has(hash) && adder.bytes() + read.content.length > this.#request.limits.maxTotalBytes)
      return { kind: 'left_out', reason: 'total' };
    adder.add(read.content, hash);
    this.#see(path, read.stats, hash);
    return { kind: 'file', mode: read.stats.mode & MODE_BITS, hash, size: read.content.length };
  }

  #see(path: string, { ino, size, mtimeMs, ctimeMs }: Stats, hash: string): void {
    this.seen.set(path, { ino, size, mtimeMs, ctimeMs, hash, readMs: this.#tools.now() });
  }
}

const isIgnoredBy = ({ now, old }: Folder, path: string): boolean =>
  now.ignores(path) || (now !== old && old.ignores(path));

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);
/** Whether too many files are open, which says nothing about the file. */
export const lacksDescriptors = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(String(codeOf(error)));
/** What became of a name that was listed a moment ago: it is gone, or something else by now. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ELOOP', 'ENOTDIR'].includes(String(codeOf(error)));

function openOrWhyNot(way: string, flags: number): number | 'gone' | 'unreadable' {
  try {
    return openSync(toPath(way), flags);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    return isGone(error) ? 'gone' : 'unreadable';
  }
}

export function readLink(way: string): Entry | undefined {
  try {
    return { kind: 'link', target: readlinkSync(toPath(way), 'latin1') };
  } catch (error) {
    const isOther = isGone(error) || codeOf(error) === 'EINVAL'; // replaced by something else meanwhile
    return isOther ? undefined : { kind: 'left_out', reason: 'unreadable' };
  }
}

function lstatOrWhyNot(way: string): Stats | 'gone' | 'unreadable' {
  try {
    return lstatSync(toPath(way));
  } catch (error) {
    return isGone(error) ? 'gone' : 'unreadable'; // its folder may be listed, but not entered
  }
}

/** Reads a regular file whole, or says why not. */
export function readFile(way: string, maxBytes: number): { content: Buffer; stats: Stats } | LeftOutReason | 'gone' {
  const fd = openOrWhyNot(way, FILE);
  if (typeof fd === 'string') return fd;
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return 'gone';
    if (stats.size > maxBytes) return 'size';
    const content = readUpTo(fd, stats.size, maxBytes);
    return content === undefined ? 'size' : { content, stats };
  } catch {
    return 'unreadable'; // a failing disk
  } finally {
    closeSync(fd);
  }
}

/** Undefined if the file has grown beyond the limit meanwhile. */
function readUpTo(fd: number, size: number, maxBytes: number): Buffer | undefined {
  const parts: Buffer[] = [];
  let total = 0;
  for (let part = Buffer.alloc(size + 1); ; part = Buffer.alloc(64 * 1024)) {
    const count = readSync(fd, part, 0, part.length, null);
    if (count === 0) return Buffer.concat(parts, total);
    total += count;
    if (total > maxBytes) return undefined;
    parts.push(part.subarray(0, count));
  }
}
