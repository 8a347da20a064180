import { createParser } from 'eventsource-parser';
import { type Cursor, parseCursor } from '../cursor.ts';
import { LIMITS } from '../limits.ts';
import type { StreamEvent, TransientEvent } from '../stream-events.ts';
import { createBackoff } from './backoff.ts';
import { HttpError, toHttpError } from './http-error.ts';
import type { Timers } from './timers.ts';

/** How a conversation’s event stream is read. */
export interface EventStreamOptions {
  /** Continue after this cursor. */
  after?: string | undefined;
  /** False: every reconnect replays the whole history, as a plain EventSource gets it. */
  resume?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What a stream says; `id` is the cursor after it, absent on what is not in the log. */
export interface StreamMessage {
  id: string | undefined;
  event: StreamEvent | TransientEvent;
}

interface EventStreamSource {
  timers: Timers;
  /** Opens the stream; with `lastEventId` to continue exactly after it. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
}

/** Three missed keepalives: the connection is dead though nobody closed it. */
const SILENCE_MS = 3 * LIMITS.sseKeepaliveMs;

/**
 * One workstream's events over any number of connections, each logged one once and in order. `connected` comes again with
 * every connection: with `recovered: false`, or without `recovered`, a whole `history` follows it.
 */
export async function* readEventStream(
  source: EventStreamSource,
  { after, resume = true, signal }: EventStreamOptions,
): AsyncGenerator<StreamMessage, never> {
  const backoff = createBackoff(source.timers);
  const position = createPosition(after);
  for (;;) {
    let retryAfterMs: number | undefined;
    try {
      for await (const message of readOnce(source, resume ? position.lastId : undefined, signal)) {
        backoff.reset();
        if (position.advance(message)) yield message;
      }
    } catch (error) {
      signal?.throwIfAborted();
      retryAfterMs = waitAfter(error);
    }
    await pause(source.timers, retryAfterMs ?? backoff.nextMs(), signal);
  }
}

/** Where a reader is in the log, over all its connections. */
function createPosition(after: string | undefined) {
  let last: Cursor | undefined = parseCursor(after);
  let lastId = after;
  return {
    get lastId(): string | undefined {
      return lastId;
    },
    /** False for what was delivered before. */
    advance({ id, event }: StreamMessage): boolean {
      if (event.type === 'connected' && event.recovered !== true) last = undefined; // the log is told anew
      const cursor = parseCursor(id);
      if (cursor === undefined) return true;
      if (last !== undefined && cursor.epoch === last.epoch && cursor.offset <= last.offset) return false;
      last = cursor;
      lastId = id;
      return true;
    },
  };
}

/** How long the daemon asks to wait after a failure; throws one that no retry can change. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof HttpError)) return undefined; // the connection broke
  if (!error.retryable) throw error;
  return error.retryAfterMs;
}

/** One connection from its opening to its end. */
async function* readOnce(
  { timers, open }: EventStreamSource,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage, void> {
  const controller = new AbortController();
  const silence = watchSilence(timers, () => controller.abort(new Error(`nothing arrived for ${SILENCE_MS} ms`)));
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await open(lastEventId, controller.signal);
    if (!response.ok || response.body === null) throw await toHttpError(response);
    const messages: StreamMessage[] = [];
    const parser = createParser({
      // By the interface's contract; the daemon tests what it sends against the schemas.
      onEvent: ({ id, data }) => messages.push({ id, event: JSON.parse(data) as StreamMessage['event'] }),
    });
    const decoder = new TextDecoder();
    for await (const bytes of chunksOf(response.body, controller.signal)) {
      silence.reset();
      parser.feed(decoder.decode(bytes, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    silence.stop();
    controller.abort();
  }
}

/** The chunks of a body (streams are not iterable in every browser), until its end or an abort. */
async function* chunksOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined); // raced below
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([reader.read(), aborted.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    reader.cancel().catch(() => undefined); // already closed or broken: nothing is left to release
  }
}

function watchSilence(timers: Timers, onSilence: () => void) {
  let stop = timers.after(SILENCE_MS, onSilence);
  return {
    reset(): void {
      stop();
      stop = timers.after(SILENCE_MS, onSilence);
    },
    stop: () => stop(),
  };
}

function pause(timers: Timers, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
