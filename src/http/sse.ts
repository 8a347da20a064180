import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  /** Writes events of a log: at once, or behind the frames that are queued. */
  write(entries: readonly Framed[]): void;
  /** False while the client is behind; `onReady` is called when it has caught up. */
  ready(): boolean;
  /** Idempotent. */
  end(): void;
}

/** An event that knows its frames. */
interface Framed {
  sse(): string;
}

interface SseOptions extends Pick<Exchange, 'requestId'> {
  writing: SseWriting;
  until: readonly AbortSignal[];
  onReady(): void;
  /** Called once, however the stream ends. */
  onEnd(): void;
}

export function openSse(res: ServerResponse, options: SseOptions): SseStream {
  res.writeHead(200, { ...everyAnswer(options), ...HEADERS });
  res.flushHeaders();
  return new ResponseStream(res, options);
}

/** A class because there are many instances, and each event goes through all of them: they share their methods. */
class ResponseStream implements SseStream {
  readonly #res: ServerResponse;
  readonly #options: SseOptions;
  readonly #writing: SseWriting;
  /**
   * Chunks are written to the socket directly: encoding them in the response costs as much as the system call. `res.end`
   * still ends the response. Undefined for HTTP/1.0, and while an earlier answer on the connection is unfinished.
   */
  readonly #socket: Socket | undefined;
  readonly #ended = new AbortController();
  #queue: string[] = [];
  #queuedLength = 0;
  /** Whether the last write filled the socket's own buffer, which is smaller than the budget. */
  #isFull = false;
  #isBehind = false;
  /** Like `#ended.signal.aborted`, which costs much more to read for each event of each stream. */
  #isOver = false;
  #lastWriteMs: number;

  constructor(res: ServerResponse, options: SseOptions) {
    const { writing, until } = options;
    this.#res = res;
    this.#options = options;
    this.#writing = writing;
    this.#socket = res.chunkedEncoding ? (res.socket ?? undefined) : undefined;
    this.#lastWriteMs = writing.clock.monotonic();
    res.on('drain', this.#catchUp);
    this.#socket?.on('drain', this.#catchUp);
    res.once('close', this.end);
    for (const signal of until) signal.addEventListener('abort', this.end, { once: true });
    if (until.some(({ aborted }) => aborted)) setImmediate(this.end);
    void this.#keepAlive();
  }

  send(frames: string): void {
    if (this.#isOver) return;
    if (this.#queue.length === 0) this.#writing.defer(this.#flushAndCatchUp);
    this.#queue.push(frames);
    this.#queuedLength += frames.length;
  }

  write(entries: readonly Framed[]): void {
    if (this.#isOver) return;
    const { text, chunk, atMs } = this.#writing.encode(entries);
    if (text === '') return; // an empty chunk would end the answer
    if (this.#socket && this.#queue.length === 0) {
      this.#lastWriteMs = atMs;
      this.#isFull = !this.#socket.write(chunk);
    } else {
      this.send(text);
    }
  }

  ready(): boolean {
    if ((this.#isFull || this.#queuedLength > 0) && !this.#hasRoom()) this.#isBehind = true;
    return !this.#isBehind;
  }

  end = (): void => {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    this.#ended.abort();
    this.#socket?.off('drain', this.#catchUp);
    for (const signal of this.#options.until) signal.removeEventListener('abort', this.end);
    this.#res.end();
    this.#options.onEnd();
  };

  #flush(): void {
    const text = this.#queue.join('');
    this.#queue = [];
    this.#queuedLength = 0;
    if (text !== '' && !this.#isOver) this.#put(text);
  }

  #catchUp = (): void => {
    if (!this.#isBehind || this.#isOver || !this.#hasRoom()) return;
    this.#isBehind = false;
    this.#options.onReady();
  };

  #flushAndCatchUp = (): void => {
    this.#flush();
    this.#catchUp();
  };

  #put(text: string): void {
    this.#lastWriteMs = this.#writing.clock.monotonic();
    if (this.#res.destroyed) return;
    this.#isFull = !(this.#socket ? this.#socket.write(toChunk(text)) : this.#res.write(text));
  }

  #hasRoom(): boolean {
    // Counting costs as much as a quarter of a write, so it is left out while the socket's own buffer has room.
    return (this.#isFull ? this.#res.writableLength : 0) + this.#queuedLength < BUDGET_BYTES;
  }

  /** Writes a comment whenever nothing was written for a while. */
  async #keepAlive(): Promise<void> {
    const { clock } = this.#writing;
    const { signal } = this.#ended;
    const quietMs = () => clock.monotonic() - this.#lastWriteMs;
    try {
      while (!signal.aborted) {
        await clock.sleep(LIMITS.sseKeepaliveMs - quietMs(), signal);
        if (quietMs() < LIMITS.sseKeepaliveMs) continue;
        // A client that is behind has unread bytes already and must not get more.
        if ((this.#res.socket ?? this.#res).writableNeedDrain) this.#lastWriteMs = clock.monotonic();
        else this.#put(KEEPALIVE);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Shared by all streams. */
export interface SseWriting {
  /** The frames of events, as text and as one chunk of an HTTP/1.1 answer. */
  encode(entries: readonly Framed[]): EncodedFrames;
  defer: Defer;
  clock: Clock;
}

interface EncodedFrames {
  text: string;
  chunk: Buffer;
  /** When it was encoded, which is when it is written: no stream reads the clock for each event. */
  atMs: number;
}

export function createSseWriting({ defer, clock }: Omit<SseWriting, 'encode'>): SseWriting {
  let last: (EncodedFrames & { entries: readonly Framed[] }) | undefined;
  return {
    /** Caches the last chunk, because events are written to all streams of their workstream in a row. */
    encode(entries) {
      if (last?.entries === entries) return last;
      const text = entries.map((entry) => entry.sse()).join('');
      last = { entries, text, chunk: toChunk(text), atMs: clock.monotonic() };
      return last;
    },
    defer,
    clock,
  };
}

const toChunk = (text: string): Buffer => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);

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
