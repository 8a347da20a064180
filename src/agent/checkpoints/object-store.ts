import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { PackWriter, type Placed, readIndexes, readPlaced, removePack, unpack } from './pack-file.ts';

/** A stored object cannot be read, or is not what was stored. */
class DamagedObject extends Error {
  override readonly name = 'DamagedObject';
}

export const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** More packs are merged into one. */
const MOST_PACKS = 16;

/**
 * The contents of one workstream's snapshots, each once, named by its SHA-256. They lie in packs, because twenty thousand
 * files take much longer to create. Only the daemon's user may read them.
 */
export class ObjectStore {
  readonly #folder: string;
  #objects: Map<string, Placed>;
  #bytes: number;
  #next: number;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#objects = readIndexes(folder);
    this.#bytes = sumOf(this.#objects);
    this.#next = 1 + Math.max(0, ...this.#packs().map(Number));
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#bytes;
  }

  has(hash: string): boolean {
    return this.#objects.has(hash);
  }

  /** Throws DamagedObject. */
  get(hash: string): Buffer {
    const placed = this.#objects.get(hash);
    if (!placed) throw new DamagedObject(`the stored content ${hash.slice(0, 12)} is missing`);
    const content = this.#read(placed, hash);
    if (hashOf(content) !== hash) throw new DamagedObject(`the stored content ${hash.slice(0, 12)} is altered`);
    return content;
  }

  #read(placed: Placed, hash: string): Buffer {
    try {
      return unpack(readPlaced(this.#folder, placed), placed);
    } catch (cause) {
      throw new DamagedObject(`the stored content ${hash.slice(0, 12)} cannot be read`, { cause });
    }
  }

  /** Adds objects in `work`; they are stored and durable when it returns, or none of them is. */
  adding<T>(work: (adder: Adder) => T): T {
    const writer = this.#writer();
    const adder: Adder = {
      has: (hash) => this.#objects.has(hash) || writer.placed.has(hash),
      add(content, hash = hashOf(content)) {
        if (!adder.has(hash)) writer.add(hash, content);
        return hash;
      },
      bytes: () => this.#bytes + writer.bytes,
    };
    try {
      const done = work(adder);
      this.#finish(writer);
      return done;
    } catch (error) {
      writer.drop();
      throw error;
    }
  }

  /** How many bytes these objects take. */
  sizeOf(used: ReadonlySet<string>): number {
    return sumOf(new Map([...this.#objects].filter(([hash]) => used.has(hash))));
  }

  /**
   * Removes what is not in use any more, and merges packs when there are many. A pack that is mostly in use is left as it
   * is; with `isTight`, only if nearly all of it is.
   */
  keepOnly(used: ReadonlySet<string>, { isTight = false } = {}): void {
    const packs = this.#rewritten(used, isTight ? 0.9 : 0.7);
    if (packs.size === 0) return;
    const objects = new Map([...this.#objects].filter(([, { pack }]) => !packs.has(pack)));
    const writer = this.#writer();
    try {
      for (const [hash, placed] of this.#objects)
        if (packs.has(placed.pack) && used.has(hash))
          writer.copy(hash, { bytes: readPlaced(this.#folder, placed), isPacked: placed.isPacked });
      writer.finish();
    } catch (error) {
      writer.drop();
      throw error;
    }
    for (const [hash, placed] of writer.placed) objects.set(hash, placed);
    this.#objects = objects;
    this.#bytes = sumOf(objects);
    for (const pack of packs) removePack(this.#folder, pack);
  }

  /** The packs of which less than this share is in use; all of them if there are many. */
  #rewritten(used: ReadonlySet<string>, share: number): Set<string> {
    const packs = new Map(this.#packs().map((pack) => [pack, { bytes: 0, used: 0 }]));
    for (const [hash, { pack, stored }] of this.#objects) {
      const size = packs.get(pack);
      if (size) size.bytes += stored;
      if (size && used.has(hash)) size.used += stored;
    }
    const isMany = packs.size > MOST_PACKS;
    return new Set([...packs].flatMap(([pack, size]) => (isMany || size.used < size.bytes * share ? pack : [])));
  }

  #writer(): PackWriter {
    this.#next += 1;
    return new PackWriter(this.#folder, String(this.#next).padStart(8, '0'));
  }

  #finish(writer: PackWriter): void {
    writer.finish();
    for (const [hash, placed] of writer.placed) this.#objects.set(hash, placed);
    this.#bytes += writer.bytes;
  }

  #packs(): string[] {
    return [...new Set([...this.#objects.values()].map(({ pack }) => pack))];
  }
}

/** Takes new objects. */
export interface Adder {
  has(hash: string): boolean;
  /** Returns the hash of the content. */
  add(content: Buffer, hash?: string): string;
  /** What would lie on disk. */
  bytes(): number;
}

function sumOf(objects: ReadonlyMap<string, Placed>): number {
  let sum = 0;
  for (const { stored } of objects.values()) sum += stored;
  return sum;
}
