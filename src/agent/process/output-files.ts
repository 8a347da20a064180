import { constants } from 'node:fs';
import { open, readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';

/** Bytes of an output. */
export interface OutputRange {
  offset: number;
  limit: number;
}

/** What was printed in a range: every character that begins in it. Ranges side by side make up the whole. */
export interface OutputPart {
  text: string;
  totalBytes: number;
}

/** A part of one of `whole` bytes. */
export function takeRange(whole: Buffer, range: OutputRange): OutputPart {
  return {
    text: toText(whole.subarray(range.offset, range.offset + range.limit + MAX_SPLIT), range),
    totalBytes: whole.length,
  };
}

/** A part of a stored output; undefined when there is none of this name (any more). */
export async function readOutput(folder: string, name: string, range: OutputRange): Promise<OutputPart | undefined> {
  if (!/^[\w-]{1,128}\.log$/.test(name)) return undefined;
  // A link put in its place would lead out of the folder.
  const file = await open(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW).catch(absent);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const length = Math.max(0, Math.min(range.limit + MAX_SPLIT, size - range.offset));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, range.offset);
    return { text: toText(buffer.subarray(0, bytesRead), range), totalBytes: size };
  } finally {
    await file.close();
  }
}

/** Removes the stored outputs of commands that were last written before a time; a folder that is not there has none. */
export async function removeOldOutputs(folder: string, beforeMs: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = path.join(folder, name);
    const stats = await stat(file);
    if (stats.isFile() && stats.mtimeMs < beforeMs) await unlink(file);
  }
}

/** What a character of UTF-8 has at most behind its first byte. */
const MAX_SPLIT = 3;

/** `bytes` reach MAX_SPLIT beyond the range, where there is more. */
function toText(bytes: Buffer, { offset, limit }: OutputRange): string {
  const start = offset === 0 ? 0 : skipSplit(bytes, 0);
  const end = skipSplit(bytes, Math.min(limit, bytes.length));
  return bytes.subarray(start, Math.max(start, end)).toString('utf8');
}

/** The first place from `at` on where a character begins; the same for whoever asks from either side. */
function skipSplit(bytes: Buffer, at: number): number {
  let place = at;
  while (place < bytes.length && place - at < MAX_SPLIT && isContinuation(bytes[place])) place += 1;
  return place;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(absent)) ?? []; // made with the first output
}

/** What is not there is nothing; anything else is a fault. */
function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP'))
    return undefined;
  throw error;
}
