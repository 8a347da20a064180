import { LIMITS } from '../../../protocol/limits.ts';
import type { KeptOutput } from '../message.ts';
import { takeTail } from '../process/byte-ends.ts';
import { createEnds, createOverflowFile, showEnds } from '../process/output.ts';

/** The output of a background command, in bounded memory: whole in a file, and what the model has not read yet. */
export interface BackgroundOutput {
  readonly bytes: number;
  /** The name of its file, also before that exists. */
  readonly fileName: string;
  /** Resolves when the file is written, so that a fast command waits for a slow disk. */
  write(bytes: Buffer): Promise<void>;
  /** What was written since the last call: its beginning and end, if it is long. */
  takeNew(maxBytes: number): string;
  /** What the next `takeNew` returns, as far as it is in memory. */
  unread(): { head: string; tail: string };
  /** The last lines. */
  lastLines(): string;
  close(): Promise<void>;
  kept(): KeptOutput | undefined;
}

/** What lists and messages show. */
const LAST_BYTES = 2 * 1024;
const LAST_LINES = 12;
/** The most that one reading shows. */
const SHOWN_BYTES = 64 * 1024;
const SHOWN_LINES = 2_000;

export function createBackgroundOutput({
  folder,
  name,
  commandId,
}: {
  folder: string;
  /** The file's name without `.log`. */
  name: string;
  commandId: string;
}): BackgroundOutput {
  const file = createOverflowFile({ folder, name, callId: commandId, maxBytes: LIMITS.backgroundOutputBytes });
  let fresh = createEnds(SHOWN_BYTES);
  let last: Buffer = Buffer.alloc(0);
  let total = 0;
  return {
    get bytes() {
      return total;
    },
    fileName: file.fileName,
    async write(bytes) {
      if (bytes.length === 0) return;
      total += bytes.length;
      fresh.write(bytes);
      last = bytes.length >= LAST_BYTES ? Buffer.from(bytes.subarray(-LAST_BYTES)) : joined(last, bytes);
      await file.write(bytes);
    },
    takeNew(maxBytes) {
      const ends = fresh;
      fresh = createEnds(SHOWN_BYTES);
      return showEnds(ends, { maxBytes: Math.min(maxBytes, SHOWN_BYTES), maxLines: SHOWN_LINES, file });
    },
    unread: () => ({ head: fresh.head().toString('utf8'), tail: fresh.tail().toString('utf8') }),
    lastLines: () => takeTail(last, { maxBytes: LAST_BYTES - 1, maxLines: LAST_LINES }).toString('utf8'),
    close: () => file.close(),
    kept: () => file.kept(),
  };
}

const joined = (last: Buffer, bytes: Buffer): Buffer => Buffer.from(Buffer.concat([last, bytes]).subarray(-LAST_BYTES));
