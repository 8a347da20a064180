import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { takeHead } from '../../process/byte-ends.ts';

interface Window {
  /** The first line, counted from 1. */
  offset: number;
  limit: number;
  /** The limit for the shown lines together. */
  maxBytes: number;
}

type ReadLines = { kind: 'binary' } | { kind: 'text'; text: string; sha256: string };

/** Reads a file once in bounded memory. Returns the numbered lines of the window and the hash of the whole file. */
export async function readLines(
  handle: FileHandle,
  { signal, ...window }: Window & { signal: AbortSignal },
): Promise<ReadLines> {
  const hash = createHash('sha256');
  const lines = createLineWindow(window);
  let isFirst = true;
  for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) {
    signal.throwIfAborted();
    if (isFirst && chunk.subarray(0, SNIFFED_BYTES).includes(0)) return { kind: 'binary' };
    isFirst = false;
    hash.update(chunk);
    lines.write(chunk);
  }
  return { kind: 'text', text: lines.end(), sha256: hash.digest('hex') };
}

const SNIFFED_BYTES = 8_192;
const MAX_LINE_BYTES = 8 * 1024;

/** Takes the text in pieces and returns the numbered lines of a window. */
export function createLineWindow({ offset, limit, maxBytes }: Window) {
  const shown: string[] = [];
  let shownBytes = 0;
  let isFull = false;
  let lineNumber = 1;
  let line: Buffer[] = [];
  let lineBytes = 0;

  const add = (part: Buffer) => {
    // Parts beyond the limit are only counted, because the line is cut anyway.
    if (lineBytes <= MAX_LINE_BYTES) line.push(part);
    lineBytes += part.length;
  };
  const finishLine = () => {
    const isWanted = lineNumber >= offset && shown.length < limit && !isFull;
    if (isWanted) {
      const text = `${String(lineNumber).padStart(6)}\t${toShownLine(Buffer.concat(line), lineBytes)}`;
      shownBytes += Buffer.byteLength(text) + 1;
      isFull = shownBytes > maxBytes && shown.length > 0; // one line is shown in any case
      if (!isFull) shown.push(text);
    }
    lineNumber += 1;
    line = [];
    lineBytes = 0;
  };
  return {
    write(chunk: Buffer) {
      let from = 0;
      for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
        add(chunk.subarray(from, at));
        finishLine();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end() {
      if (lineBytes > 0) finishLine();
      return toText(shown, { offset, total: lineNumber - 1 });
    },
  };
}

function toShownLine(line: Buffer, bytes: number): string {
  if (bytes <= MAX_LINE_BYTES) return line.toString('utf8').replace(/\r$/, '');
  const head = takeHead(line, { maxBytes: MAX_LINE_BYTES, maxLines: 1 });
  return `${head.toString('utf8')} [line cut, ${bytes} bytes]`;
}

function toText(shown: string[], { offset, total }: { offset: number; total: number }): string {
  if (total === 0) return '[it is empty]';
  if (offset > total) return `[there are only ${total} lines]`;
  const last = offset + shown.length - 1;
  const isWhole = offset === 1 && last === total;
  const more = last < total ? `; offset ${last + 1} shows the rest` : '';
  return isWhole ? shown.join('\n') : [...shown, `[lines ${offset} to ${last} of ${total}${more}]`].join('\n');
}
