import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Messages with `after` < seq ≤ `upTo`. */
export interface KnownMessages {
  after: number;
  upTo: number;
}

/** Reads the stored texts of these messages. */
export type TextsOf = (messages: KnownMessages) => readonly string[];

/*
 * A block is the compressed form of a row's body: the numbers of messages that its events repeat, and the body, compressed
 * with the texts of these messages as its dictionary. The row's checksum is the one of the body.
 */

/** The bodies of several rows, which share a block. JSON has no line breaks. */
export const joinBodies = (bodies: readonly string[]): string => bodies.join('\n');

export const splitBodies = (body: string): string[] => body.split('\n');

export function toBlock(body: string, known: KnownMessages, texts: readonly string[]): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(known.after, 0);
  header.writeUInt32LE(known.upTo, 4);
  return Buffer.concat([header, deflateRawSync(body, { level: 9, ...dictionaryOf(texts) })]);
}

/** Undefined for a damaged block. One of damaged messages may give another body, so its checksum decides. */
export function bodyOfBlock(block: Uint8Array, textsOf: TextsOf): string | undefined {
  if (block.length < HEADER_BYTES) return undefined;
  const header = Buffer.from(block.subarray(0, HEADER_BYTES));
  const known = { after: header.readUInt32LE(0), upTo: header.readUInt32LE(4) };
  if (known.upTo - known.after > MAX_KNOWN) return undefined;
  const options = { maxOutputLength: MAX_BODY_BYTES, ...dictionaryOf(textsOf(known)) };
  try {
    return inflateRawSync(block.subarray(HEADER_BYTES), options).toString();
  } catch {
    return undefined; // not what was compressed
  }
}

function dictionaryOf(texts: readonly string[]): { dictionary?: Buffer } {
  return texts.length === 0 ? {} : { dictionary: Buffer.from(texts.join('')) };
}

/** A block holds no more events. */
export const MAX_BLOCK_EVENTS = 2_048;
/** How many messages a block may refer to. */
export const MAX_KNOWN = 64;
const HEADER_BYTES = 8;
const MAX_BODY_BYTES = 1_048_576;
