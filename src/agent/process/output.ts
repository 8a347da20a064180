import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { KeptOutput } from '../message.ts';
import { countNewlines, takeHead, takeTail } from './byte-ends.ts';
import { createLineSplitter } from './line-splitter.ts';

/** The output of a command, in bounded memory: whole in a file, head and tail for the model, the first part live. */
interface OutputCollector extends AsyncDisposable {
  /** Resolves when the file is written, so that a fast child waits for a slow disk. */
  write(bytes: Buffer): Promise<void>;
  /** Returns what the model reads. Call it once, after the last write. */
  finish(): Promise<string>;
  /** Available after `finish`: the file with the whole output, if it was too long to show and could be stored. */
  kept(): KeptOutput | undefined;
}

interface OutputOptions {
  /** The folder for outputs that are too long to show. */
  folder: string;
  /** The file's name without `.log`. */
  name: string;
  /** The call whose output it is. */
  callId: string;
  /** Receives whole lines up to `liveBytes` in total, then one notice, then nothing. */
  onChunk(text: string): void;
  limits?: Partial<OutputLimits>;
}

export interface OutputLimits {
  /** The limit for the model. */
  maxBytes: number;
  /** The limit for live chunks. */
  liveBytes: number;
  maxLines: number;
  maxFileBytes: number;
}

/** Collects the output of one command. */
export function createOutputCollector({ folder, name, callId, onChunk, limits = {} }: OutputOptions): OutputCollector {
  const { maxBytes = 64 * 1024, liveBytes = 64 * 1024, maxLines = 2_000, maxFileBytes = 64 * 1024 * 1024 } = limits;
  const ends = createEnds(maxBytes);
  const file = createOverflowFile({ folder, name, callId, maxBytes: maxFileBytes });
  const live = createLiveChunks({ maxBytes: liveBytes, onChunk });
  const isTooLong = () => isLonger(ends, { maxBytes, maxLines });
  return {
    async write(bytes) {
      live.write(bytes);
      const before = { bytes: ends.bytes, isTooLong: isTooLong() };
      ends.write(bytes);
      if (!isTooLong()) return;
      // Nothing was dropped so far, so the head begins with all earlier output.
      if (!before.isTooLong) await file.write(ends.head().subarray(0, before.bytes));
      await file.write(bytes);
    },
    async finish() {
      live.end();
      await file.close();
      return showEnds(ends, { maxBytes, maxLines, file });
    },
    kept: () => file.kept(),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

interface ShownLimits {
  maxBytes: number;
  maxLines: number;
}

type Ends = ReturnType<typeof createEnds>;

const isLonger = (ends: Ends, { maxBytes, maxLines }: ShownLimits): boolean =>
  ends.bytes > maxBytes || ends.lines > maxLines;

/** The text, or its beginning and end with a notice about what is left out. `maxBytes`: at most what `ends` keeps. */
export function showEnds(ends: Ends, { maxBytes, maxLines, file }: ShownLimits & { file: OverflowFile }): string {
  if (!isLonger(ends, { maxBytes, maxLines })) return ends.head().toString('utf8');
  const half = { maxBytes: Math.floor(maxBytes / 2), maxLines: Math.floor(maxLines / 2) };
  const head = takeHead(ends.head(), half);
  const tail = takeTail(ends.tail(), half);
  const leftOut = {
    bytes: ends.bytes - head.length - tail.length,
    lines: ends.lines - countNewlines(head) - countNewlines(tail),
  };
  return joinEnds({ head: head.toString('utf8'), tail: tail.toString('utf8'), notice: toNotice(leftOut, file) });
}

/** Keeps the first and last `maxBytes` of a stream of any length. */
export function createEnds(maxBytes: number) {
  const first: Buffer[] = [];
  let last: Buffer[] = [];
  let firstBytes = 0;
  let lastBytes = 0;
  return {
    bytes: 0,
    lines: 0,
    write(bytes: Buffer) {
      this.bytes += bytes.length;
      this.lines += countNewlines(bytes);
      if (firstBytes < maxBytes) {
        const part = bytes.subarray(0, maxBytes - firstBytes);
        first.push(part);
        firstBytes += part.length;
      }
      const part = bytes.subarray(-maxBytes);
      last.push(part);
      lastBytes += part.length;
      // Joined only sometimes, so that a stream of tiny chunks is not copied for each.
      if (last.length > 1 && lastBytes > 4 * maxBytes) {
        last = [Buffer.concat(last).subarray(-maxBytes)];
        lastBytes = maxBytes;
      }
    },
    head: () => Buffer.concat(first),
    tail: () => Buffer.concat(last).subarray(-maxBytes),
  };
}

interface OverflowOptions {
  folder: string;
  name: string;
  callId: string;
  maxBytes: number;
}

interface OverflowFile {
  /** In the folder, also before it exists. */
  readonly fileName: string;
  write(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
  kept(): KeptOutput | undefined;
  /** Where the whole output is, for people and the model, or why it was not stored. */
  description(): string;
}

/** The file of an output, created with its first bytes. */
export function createOverflowFile(options: OverflowOptions): OverflowFile {
  const fileName = `${options.name}.log`;
  let handle: FileHandle | undefined;
  let written = 0;
  let isCut = false;
  let problem: string | undefined;
  /** The command has already run, so a full disk must not fail it. A partial output is removed to free the disk. */
  const giveUp = async (error: unknown) => {
    problem = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (!handle) return;
    await handle.close().catch(() => undefined); // the file is removed next
    handle = undefined;
    await rm(join(options.folder, fileName), { force: true }).catch(() => undefined); // removed later by the cleanup
  };
  const append = async (bytes: Buffer) => {
    handle ??= await openPrivate(options.folder, fileName);
    const part = bytes.subarray(0, options.maxBytes - written);
    isCut ||= part.length < bytes.length;
    if (part.length > 0) await handle.appendFile(part);
    written += part.length;
  };
  return {
    fileName,
    async write(bytes) {
      if (problem !== undefined || isCut) return;
      await append(bytes).catch(giveUp);
    },
    async close() {
      const open = handle;
      handle = undefined;
      await open?.close().catch(giveUp);
    },
    kept: () => (written > 0 && problem === undefined ? { name: fileName, bytes: written } : undefined),
    description() {
      if (problem !== undefined) return `the whole output could not be stored (${problem})`;
      const stored = isCut ? `its first ${options.maxBytes} bytes are` : 'the whole output is';
      const file = `${basename(options.folder)}/${fileName}`;
      return `${stored} stored for people as ${file}; read_output with call_id "${options.callId}" shows it to you`;
    },
  };
}

async function openPrivate(folder: string, fileName: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return open(join(folder, fileName), 'wx', 0o600);
}

function createLiveChunks({ maxBytes, onChunk }: { maxBytes: number; onChunk(text: string): void }) {
  let givenBytes = 0;
  let isOver = false;
  const splitter = createLineSplitter((text) => {
    if (isOver) return;
    const bytes = Buffer.from(text);
    const part = takeHead(bytes, { maxBytes: maxBytes - givenBytes, maxLines: Number.POSITIVE_INFINITY });
    isOver = part.length < bytes.length;
    givenBytes += part.length;
    if (part.length > 0) onChunk(part.toString('utf8'));
    if (isOver) onChunk('\n[More output follows; it is not shown live.]\n');
  });
  return {
    write(bytes: Buffer) {
      if (!isOver) splitter.write(bytes);
    },
    end: () => splitter.end(),
  };
}

function toNotice({ bytes, lines }: { bytes: number; lines: number }, file: OverflowFile): string {
  return `[... ${lines} lines (${bytes} bytes) left out here; ${file.description()} ...]`;
}

function joinEnds({ head, tail, notice }: { head: string; tail: string; notice: string }): string {
  return `${head}${head.endsWith('\n') ? '' : '\n'}${notice}\n${tail}`;
}
