import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';

/** A range of bytes of an output. */
export interface OutputRange {
  offset: number;
  limit: number;
}

/** The text of a range: every character that begins in it. Adjacent ranges together give the whole text. */
export interface OutputPart {
  text: string;
  totalBytes: number;
}

/** The part of an output whose bytes are all in memory. */
export function takeRange(whole: Buffer, range: OutputRange): OutputPart {
  return {
    text: takePart(whole.subarray(range.offset, range.offset + toReadLength(range)), range),
    totalBytes: whole.length,
  };
}

/** A part of a stored output; undefined when no output has this name, or not any more. */
export async function readOutput(folder: string, name: string, range: OutputRange): Promise<OutputPart | undefined> {
  const file = await openOutput(folder, name);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const length = Math.max(0, Math.min(toReadLength(range), size - range.offset));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, range.offset);
    return { text: takePart(buffer.subarray(0, bytesRead), range), totalBytes: size };
  } finally {
    await file.close();
  }
}

export const isOutputName = (name: string): boolean => /^[\w-]{1,128}\.log$/.test(name);

/** A stored output, to be closed by the caller; undefined when no output has this name, or not any more. */
export async function openOutput(folder: string, name: string): Promise<FileHandle | undefined> {
  if (!isOutputName(name)) return undefined;
  // A symbolic link could lead out of the folder.
  return open(path.join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(absent);
}

/** An output, or one that was not written to its end. */
const isOurs = (name: string): boolean => isOutputName(name.replace(/\.part$/, ''));

/**
 * Removes stored outputs that were last written before a time. A missing folder counts as empty. Other files stay: a person may
 * have put them there, or have linked the folder to one of their own.
 */
export async function removeOldOutputs(folder: string, beforeMs: number): Promise<void> {
  for (const name of (await namesIn(folder)).filter(isOurs)) {
    const file = path.join(folder, name);
    const stats = await lstat(file).catch(absent);
    if (stats?.isFile() && stats.mtimeMs < beforeMs) await unlink(file).catch(absent);
  }
}

/** How many bytes of a UTF-8 character may follow its first byte. */
const MAX_SPLIT = 3;

/** How many bytes are read for a range, because its last character may extend beyond it. */
export const toReadLength = ({ limit }: OutputRange): number => limit + MAX_SPLIT;

/** The text of a range from the bytes that were read for it. */
export function takePart(bytes: Buffer, { offset, limit }: OutputRange): string {
  const start = offset === 0 ? 0 : skipSplit(bytes, 0);
  const end = skipSplit(bytes, Math.min(limit, bytes.length));
  return bytes.subarray(start, Math.max(start, end)).toString('utf8');
}

/** The first position from `at` on where a character begins. Both ranges at a boundary get the same position. */
function skipSplit(bytes: Buffer, at: number): number {
  let place = at;
  while (place < bytes.length && place - at < MAX_SPLIT && isContinuation(bytes[place])) place += 1;
  return place;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(absent)) ?? []; // the folder is created with the first output
}

/** Missing files are not an error; rethrows all other errors. */
function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP'))
    return undefined;
  throw error;
}
