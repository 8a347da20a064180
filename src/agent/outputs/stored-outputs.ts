import type { Readable } from 'node:stream';

/** Long outputs that other machines can read, too, by the names of their files. */
export interface StoredOutputs {
  /** Stores what `bytes` yields. */
  write(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined for an output that is missing or not complete. */
  open(name: string): Promise<{ createReadStream(): Readable } | undefined>;
  /** Up to `length` bytes from a position on, and the length of the whole. */
  readPart(
    name: string,
    part: { offset: number; length: number },
  ): Promise<{ bytes: Buffer; size: number } | undefined>;
  /** Removes those that were stored before a time. */
  removeOld(beforeMs: number): Promise<void>;
}
