import type { ServerResponse } from 'node:http';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import type { Defer } from '../timing/end-of-turn.ts';
import { type Exchange, everyAnswer } from './exchange.ts';

/** What a response may buffer for a slow reader before its stream pauses. */
const BUDGET_BYTES = 256 * 1024;
const KEEPALIVE = ': keepalive\n\n';

/** One open event stream. It ends when the client disconnects, when a signal in `until` aborts, or by `end`. */
export interface SseStream {
  /** Queues finished frames. Frames queued in one turn of the event loop are written together. */
  send(frames: string): void;
  /** False while the client is behind; `onReady` is called when it has caught up. */
  ready(): boolean;
  /** Idempotent. */
  end(): void;
}

interface SseOptions extends SseWriting, Pick<Exchange, 'requestId'> {
  clock: Clock;
  until: readonly AbortSignal[];
  onReady(): void;
  /** Called once, however the stream ends. */
  onEnd(): void;
}

export function openSse(res: ServerResponse, options: SseOptions): SseStream {
  const { clock, defer, until, onReady, onEnd } = options;
  const { socket } = res;
  const ended = new AbortController();
  let queue: string[] = [];
  let queuedLength = 0;
  let isBehind = false;
  /** Like `ended.signal.aborted`, which costs much more to read for each event of each stream. */
  let isOver = false;
  const { write, waitingBytes, quietMs } = createWriter(res, options);

  const hasRoom = () => waitingBytes() + queuedLength < BUDGET_BYTES;
  const flush = () => {
    const [first = ''] = queue;
    const text = queue.length === 1 ? first : queue.join('');
    queue = [];
    queuedLength = 0;
    if (text !== '' && !isOver) write(text);
  };
  const catchUp = () => {
    if (!isBehind || isOver || !hasRoom()) return;
    isBehind = false;
    onReady();
  };
  const flushAndCatchUp = () => {
    flush();
    catchUp();
  };
  const end = () => {
    if (isOver) return;
    flush();
    isOver = true;
    ended.abort();
    socket?.off('drain', catchUp);
    for (const signal of until) signal.removeEventListener('abort', end);
    res.end();
    onEnd();
  };

  res.writeHead(200, { ...everyAnswer(options), ...HEADERS });
  res.flushHeaders();
  res.on('drain', catchUp);
  socket?.on('drain', catchUp);
  res.once('close', end);
  for (const signal of until) signal.addEventListener('abort', end, { once: true });
  if (until.some((signal) => signal.aborted)) setImmediate(end);
  void keepAlive({ clock, ended: ended.signal, quietMs }, () =>
    // A client that is behind has unread bytes already and must not get more.
    write((socket ?? res).writableNeedDrain ? '' : KEEPALIVE),
  );

  return {
    send(frames) {
      if (isOver) return;
      if (queue.length === 0) defer(flushAndCatchUp);
      queue.push(frames);
      queuedLength += frames.length;
    },
    ready() {
      isBehind ||= !hasRoom();
      return !isBehind;
    },
    end,
  };
}

function createWriter(res: ServerResponse, { encode, clock }: Pick<SseOptions, 'encode' | 'clock'>) {
  const { socket } = res;
  /** Whether the last write filled the socket's own buffer, which is smaller than the budget. */
  let isFull = false;
  let lastWriteMs = clock.monotonic();
  return {
    write(text: string): void {
      lastWriteMs = clock.monotonic();
      if (res.destroyed) return;
      // Writes the chunk to the socket directly: encoding it in the response costs as much as the system call. `res.end`
      // still ends the response.
      if (socket && res.chunkedEncoding) isFull = !socket.write(encode(text));
      else isFull = !res.write(text); // HTTP/1.0, or the previous answer on the connection is not finished
    },
    /** 0 while the socket's own buffer has room: counting costs as much as a quarter of a write. */
    waitingBytes: () => (isFull ? res.writableLength : 0),
    quietMs: () => clock.monotonic() - lastWriteMs,
  };
}

/** Shared by all streams. */
export interface SseWriting {
  /** Text as one chunk of an HTTP/1.1 answer. */
  encode(text: string): Buffer;
  defer: Defer;
}

export const createSseWriting = (defer: Defer): SseWriting => ({ encode: createChunkEncoding(), defer });

/** Caches the last chunk, because an event is written to all streams of its workstream in a row. */
function createChunkEncoding(): SseWriting['encode'] {
  let last = { text: '', chunk: Buffer.from('') };
  return (text) => {
    if (text !== last.text) {
      last = { text, chunk: Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`) };
    }
    return last.chunk;
  };
}

/** How long a client waits before it connects again, in the block of the stream's first frame. */
export const RETRY = `retry: ${LIMITS.sseRetryMs}\n`;

/** A frame for an event that is not in the log. */
export const sseFrame = (json: string): string => `data: ${json}\n\n`;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
  // A stream occupies its connection; keep-alive would delay a shutdown.
  Connection: 'close',
};

interface Quiet {
  clock: Clock;
  ended: AbortSignal;
  quietMs(): number;
}

async function keepAlive({ clock, ended, quietMs }: Quiet, beat: () => void): Promise<void> {
  try {
    while (!ended.aborted) {
      await clock.sleep(LIMITS.sseKeepaliveMs - quietMs(), ended);
      if (quietMs() >= LIMITS.sseKeepaliveMs) beat();
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  }
}
