import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../clock.ts';
import { Seats } from '../../../timing/seats.ts';
import { takeHead } from '../../process/byte-ends.ts';
import { withDeadline } from '../../process/deadline.ts';
import { StopReason } from '../../stop-reason.ts';
import { ToolProblem } from '../tool-problem.ts';
import type { PdfMessage, PdfTask } from './pdf-worker.ts';

/** What reading PDFs needs. */
export interface PdfReader {
  clock: Clock;
  /** Where pdf-worker lies in this build. */
  workerUrl: URL;
  /** Each worker has a limit of memory, and these are their limit together. Nothing is dropped: reads wait for a seat. */
  seats: Seats;
}

/** One for all of the daemon. */
export const createPdfReader = ({ clock, workerUrl }: Omit<PdfReader, 'seats'>): PdfReader => ({
  clock,
  workerUrl,
  seats: new Seats(() => MOST_WORKERS),
});

const MOST_WORKERS = 2;

/** A file that begins like a PDF. */
export const isPdf = (head: Buffer): boolean => head.subarray(0, 5).toString('latin1') === '%PDF-';

export const MAX_PDF_BYTES = 32 * 1024 * 1024;
const MOST_PAGES = 20;
const DEADLINE_MS = 20_000;
/** Streams in a PDF may expand a thousandfold, outside of what a worker's own limits count. */
const MAX_MEMORY_BYTES = 384 * 1024 * 1024;
const CHECK_MEMORY_MS = 20;

interface PageRange {
  first: number;
  last: number;
}

/** `3`, `1-5` or `7-` as a range. Throws ToolProblem for anything else. */
export function toPageRange(pages: string | undefined): PageRange {
  if (pages === undefined) return { first: 1, last: MOST_PAGES };
  const [, from, dash, to] = /^(\d{1,6})(?:\s*(-)(?:\s*(\d{1,6}))?)?$/.exec(pages.trim()) ?? [];
  const first = Number(from);
  const last = dash === undefined ? first : to === undefined ? first + MOST_PAGES - 1 : Number(to);
  if (from === undefined || first < 1 || last < first)
    throw new ToolProblem(`Invalid pages "${pages}". Use a number or a range such as 1-5.`);
  if (last - first >= MOST_PAGES) throw new ToolProblem(`At most ${MOST_PAGES} pages can be read at once.`);
  return { first, last };
}

interface PdfFile {
  bytes: Buffer;
  /** What it is called. */
  shown: string;
  range: PageRange;
  /** Nobody can ask for other pages. */
  isAttached?: boolean;
}

/** The text of some pages. Runs in a worker with limits of time and memory, because the file may be made to harm. */
export async function readPdf(
  file: PdfFile,
  reader: PdfReader,
  { signal, maxOutputBytes }: { signal: AbortSignal; maxOutputBytes: number },
): Promise<string> {
  const { bytes, shown, range, isAttached = false } = file;
  try {
    const message = await readInTurn({ bytes, ...range, maxChars: maxOutputBytes }, reader, signal);
    if (message.kind === 'unreadable')
      throw new ToolProblem(
        message.reason === 'password'
          ? `${shown} is protected by a password.`
          : `${shown} is damaged: it cannot be read as a PDF.`,
      );
    return toText(message, { ...range, isAttached }, maxOutputBytes);
  } catch (error) {
    if (error instanceof StopReason && error.kind === 'timeout')
      throw new ToolProblem(
        `${shown} could not be read within ${DEADLINE_MS / 1_000} s${isAttached ? '.' : '; read fewer pages.'}`,
      );
    throw error;
  }
}

type Unread = Omit<PdfTask, 'bytes'> & { bytes: Buffer };

/** Waiting for other PDFs does not count towards the deadline. */
async function readInTurn(task: Unread, { clock, workerUrl, seats }: PdfReader, signal: AbortSignal) {
  await seats.take(signal);
  try {
    using deadline = withDeadline(signal, { clock, ms: DEADLINE_MS });
    const own = { ...task, bytes: Uint8Array.from(task.bytes) }; // the worker takes them
    return await runWorker(own, { clock, workerUrl, signal: deadline.signal });
  } finally {
    seats.leave();
  }
}

async function runWorker(
  task: PdfTask,
  { clock, workerUrl, signal }: Omit<PdfReader, 'seats'> & { signal: AbortSignal },
): Promise<PdfMessage> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, {
    workerData: task,
    env: {},
    stdout: true,
    stderr: true,
    transferList: [task.bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  const tooLarge = watchMemory(worker, { clock, signal: stop });
  try {
    const said = once(worker, 'message', { signal: stop }).then(([message]) => message);
    return await Promise.race([said, tooLarge, diedOf(worker, stop)]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
    await worker.terminate();
  }
}

const TOO_LARGE = 'The PDF needs too much memory to be read.';

/** Rejects when the worker has too much memory: its heap, which V8 limits, and what it holds outside. */
async function watchMemory(worker: Worker, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<never> {
  for (;;) {
    await clock.sleep(CHECK_MEMORY_MS, signal);
    const used = await worker.getHeapStatistics().catch(() => undefined); // it has ended
    signal.throwIfAborted();
    if (used && used.total_heap_size + used.external_memory > MAX_MEMORY_BYTES) throw new ToolProblem(TOO_LARGE);
  }
}

/** Rejects if the worker ends without an answer. */
async function diedOf(worker: Worker, signal: AbortSignal): Promise<never> {
  // `once` rejects with an error of the worker, such as the end of its memory.
  await once(worker, 'exit', { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    throw new ToolProblem(isMemory ? TOO_LARGE : 'The PDF could not be read.');
  });
  throw new ToolProblem('The PDF could not be read.');
}

function toText(
  { total, pages }: Extract<PdfMessage, { kind: 'pages' }>,
  { first, last, isAttached }: PageRange & { isAttached: boolean },
  maxBytes: number,
): string {
  if (first > total) return `[the PDF has only ${total} pages]`;
  const shownTo = pages.at(-1)?.number ?? first;
  const text = pages
    .map(({ number, text: page }) => `--- page ${number} ---\n${page.trim() || '[no text; perhaps an image]'}`)
    .join('\n');
  const room = Math.max(1_024, maxBytes - 200);
  const isCut = Buffer.byteLength(text) > room;
  const head = isCut ? takeHead(Buffer.from(text), { maxBytes: room, maxLines: 100_000 }).toString('utf8') : text;
  const isRest = shownTo < total && !isCut;
  const rest = isRest ? [isAttached ? 'the rest is not shown' : `pages "${shownTo + 1}-" shows the rest`] : [];
  const wanted = isCut ? [isAttached ? 'cut here' : 'cut here; read fewer pages at once'] : rest;
  const range = shownTo === first ? `page ${first}` : `pages ${first} to ${Math.min(shownTo, last)}`;
  return `${head}\n[${[`${range} of ${total}`, ...wanted].join('; ')}]`;
}
