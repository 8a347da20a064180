import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Where an object lies. */
export interface Placed {
  pack: string;
  offset: number;
  /** Bytes in the pack. */
  stored: number;
  isPacked: boolean;
}

/** Hash in hex → place. */
export type PackIndex = ReadonlyMap<string, Placed>;

const RECORD = 32 + 8 + 4 + 1;
/** Compressing less is not worth it. */
const SMALLEST_PACKED = 64;

/**
 * Writes objects one after another into a new pack. It counts once its index is written, which is renamed into place last;
 * what a dead process left is removed at the next opening.
 */
export class PackWriter {
  readonly #folder: string;
  readonly #name: string;
  #fd: number | undefined;
  #end = 0;
  readonly placed = new Map<string, Placed>();

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#end;
  }

  add(hash: string, content: Buffer): void {
    const packed = content.length >= SMALLEST_PACKED ? zstdCompressSync(content) : content;
    const isPacked = packed.length < content.length;
    this.copy(hash, { bytes: isPacked ? packed : content, isPacked });
  }

  /** Adds an object as it lies in another pack. */
  copy(hash: string, { bytes, isPacked }: { bytes: Buffer; isPacked: boolean }): void {
    this.#fd ??= openSync(join(this.#folder, `${this.#name}.pack`), 'wx', 0o600);
    writeWhole(this.#fd, bytes);
    this.placed.set(hash, { pack: this.#name, offset: this.#end, stored: bytes.length, isPacked });
    this.#end += bytes.length;
  }

  /** Makes all of it durable, or removes it and throws. */
  finish(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    try {
      fsyncSync(fd);
      writeIndex(join(this.#folder, `${this.#name}.idx`), this.placed);
      const folder = openSync(this.#folder, 'r');
      fsyncSync(folder);
      closeSync(folder);
    } catch (error) {
      this.drop();
      throw error;
    }
    this.#fd = undefined;
    closeSync(fd);
  }

  /** Removes what was written. Has no effect after `finish`. */
  drop(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
    removePack(this.#folder, this.#name);
    rmSync(join(this.#folder, `${this.#name}.idx.tmp`), { force: true });
  }
}

function writeWhole(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function writeIndex(path: string, placed: PackIndex): void {
  const bytes = Buffer.alloc(placed.size * RECORD);
  let at = 0;
  for (const [hash, { offset, stored, isPacked }] of placed) {
    bytes.write(hash, at, 'hex');
    bytes.writeBigUInt64LE(BigInt(offset), at + 32);
    bytes.writeUInt32LE(stored, at + 40);
    bytes.writeUInt8(isPacked ? 1 : 0, at + 44);
    at += RECORD;
  }
  writeFileSync(`${path}.tmp`, bytes, { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
}

/** The objects of all finished packs. Removes what is unfinished. */
export function readIndexes(folder: string): Map<string, Placed> {
  const objects = new Map<string, Placed>();
  const names = readdirSync(folder);
  const finished = new Set(names.flatMap((name) => (name.endsWith('.idx') ? [name.slice(0, -4)] : [])));
  for (const name of names) {
    const isFinished = name.endsWith('.idx') || (name.endsWith('.pack') && finished.has(name.slice(0, -5)));
    if (!isFinished) rmSync(join(folder, name), { force: true });
  }
  for (const pack of finished) {
    const bytes = readFileSync(join(folder, `${pack}.idx`));
    for (let at = 0; at + RECORD <= bytes.length; at += RECORD) {
      objects.set(bytes.toString('hex', at, at + 32), {
        pack,
        offset: Number(bytes.readBigUInt64LE(at + 32)),
        stored: bytes.readUInt32LE(at + 40),
        isPacked: bytes.readUInt8(at + 44) === 1,
      });
    }
  }
  return objects;
}

/** The bytes of an object as they lie in its pack. */
export function readPlaced(folder: string, { pack, offset, stored }: Placed): Buffer {
  const fd = openSync(join(folder, `${pack}.pack`), 'r');
  try {
    const bytes = Buffer.alloc(stored);
    for (let done = 0; done < stored; ) {
      const count = readSync(fd, bytes, done, stored - done, offset + done);
      if (count === 0) throw new Error(`the pack ${pack} is too short`);
      done += count;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}

export const unpack = (bytes: Buffer, { isPacked }: Pick<Placed, 'isPacked'>): Buffer =>
  isPacked ? zstdDecompressSync(bytes) : bytes;

/** The order matters: without its index, a pack is unfinished. */
export function removePack(folder: string, pack: string): void {
  rmSync(join(folder, `${pack}.idx`), { force: true });
  rmSync(join(folder, `${pack}.pack`), { force: true });
}
