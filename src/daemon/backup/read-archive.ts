import { BLOCK, DamagedArchive, type Entry, parseHeader, parsePath } from './tar-entry.ts';

/** A file in an archive. Its content has to be read to the end before the next one. */
export interface ArchivedFile extends Entry {
  content: AsyncIterable<Buffer>;
}

const MOST_NAME_BYTES = 16_384;

/** The files of an archive whose bytes are `chunks`. Throws DamagedArchive. */
export async function* readArchive(chunks: AsyncIterable<Buffer>): AsyncGenerator<ArchivedFile> {
  const bytes = new Bytes(chunks);
  for (;;) {
    const entry = await readEntry(bytes);
    if (entry === undefined) break;
    yield { ...entry, content: bytes.upTo(entry.bytes) };
    await bytes.skip((BLOCK - (entry.bytes % BLOCK)) % BLOCK);
  }
  // Reading to the end also compares the checksum of the compression.
  for await (const rest of bytes.upTo(Number.POSITIVE_INFINITY))
    if (rest.some((byte) => byte !== 0)) throw new DamagedArchive('something follows its end');
}

async function readEntry(bytes: Bytes): Promise<Entry | undefined> {
  const parsed = parseHeader(await bytes.take(BLOCK));
  if (parsed === undefined || !parsed.isExtended) return parsed?.entry;
  const { bytes: length } = parsed.entry;
  if (length > MOST_NAME_BYTES) throw new DamagedArchive('a name is too long');
  const name = parsePath(await bytes.take(length));
  await bytes.skip((BLOCK - (length % BLOCK)) % BLOCK);
  const next = parseHeader(await bytes.take(BLOCK));
  if (next === undefined || next.isExtended) throw new DamagedArchive('a long name has no file');
  return { ...next.entry, name };
}

/** Reads a sequence of chunks in pieces of chosen sizes. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `length` bytes, which fit into memory. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.upTo(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    await this.take(length);
  }

  /** The next `length` bytes piece by piece; with infinity, all that are left. */
  async *upTo(length: number): AsyncGenerator<Buffer> {
    let missing = length;
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done === true && missing === Number.POSITIVE_INFINITY) return;
        if (done === true) throw new DamagedArchive('it ends too early');
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, Math.min(missing, this.#rest.length));
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      if (part.length > 0) yield part;
    }
  }
}
