import type { FileHandle } from 'node:fs/promises';
import type { FilePart } from '../../../protocol/methods/conversation/file.ts';
import { toMoment } from '../../day.ts';
import { openConfined } from '../tools/files/confined-file.ts';
import { type Asked, asProblem, placeOf } from './place.ts';
import type { LineRange } from './workspace.ts';

/** The lines of larger files are not counted, as the whole file is in memory for that. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_SENT = 256 * 1024;
const SNIFFED_BYTES = 8_192;

/** Reads lines of a text file. A file that holds no text, or that nobody should see, is answered without. */
export async function readPart(asked: Asked, range: LineRange): Promise<FilePart> {
  const place = await placeOf(asked);
  return asProblem(async () => {
    const { handle, stats } = await openConfined(place);
    try {
      const file = {
        path: place.shown,
        sizeBytes: stats.size,
        modifiedMs: toMoment(stats.mtimeMs),
        ...NO_LINES,
      };
      if (place.isSecret) return { ...file, without: 'secret' };
      if (stats.size > MOST_BYTES) return { ...file, without: 'large' };
      const bytes = await readUpTo(handle, stats.size);
      if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return { ...file, without: 'binary' };
      return { ...file, ...takeLines(bytes, range) };
    } finally {
      await handle.close();
    }
  });
}

const NO_LINES = { first: 0, last: 0, lines: 0, cut: false };

/** Not more than its size at the start, as a file may grow while it is read. */
export async function readUpTo(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(buffer, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}

/** The lines of a range, as far as they fit into an answer; at least one, which may be cut. */
export function takeLines(
  bytes: Buffer,
  { offset, limit }: LineRange,
  most = MOST_SENT,
): Pick<FilePart, 'text' | 'first' | 'last' | 'lines' | 'cut'> {
  let [start, end, last, line] = [-1, -1, 0, 0];
  for (let at = 0; at < bytes.length; ) {
    line += 1;
    const newline = bytes.indexOf(0x0a, at);
    const next = newline < 0 ? bytes.length : newline + 1;
    if (line === offset) [start, end, last] = [at, next, line];
    else if (last === line - 1 && line > offset && line < offset + limit && next - start <= most)
      [end, last] = [next, line];
    at = next;
  }
  if (start < 0) return { text: '', first: 0, last: 0, lines: line, cut: false };
  const cut = end - start > most;
  // A character that is cut in half is left out.
  const text = new TextDecoder().decode(bytes.subarray(start, cut ? start + most : end), { stream: cut });
  return { text, first: offset, last, lines: line, cut };
}
