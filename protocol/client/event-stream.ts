import { createParser } from 'eventsource-parser';
import { type Cursor, parseCursor } from '../cursor.ts';
import type { TransientEvent } from '../events/transient.ts';
import { LIMITS } from '../limits.ts';
import type { StreamEvent } from '../stream-events.ts';
import { createBackoff } from './backoff.ts';
import { HttpError, toHttpError } from './http-error.ts';
import type { Timers } from './timers.ts';

/** How to read a workstream’s event stream. */
export interface EventStreamOptions {
  /** Continue after this cursor. */
  after?: string | undefined;
  /** False: every reconnect replays the whole history, as with a plain EventSource. */
  resume?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** One event of a stream. `id` is the cursor after it; events that are not in the log have none. */
export interface StreamMessage {
  id: string | undefined;
  event: StreamEvent | TransientEvent;
}

interface EventStreamSource {
  timers: Timers;
  /** Opens the stream, exactly after `lastEventId` if given. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
}

/** After three missed keepalives, the connection counts as dead. */
const SILENCE_MS = 3 * LIMITS.sseKeepaliveMs;

/**
 * One workstream's events across reconnects; each logged event comes once and in order. `connected` comes with every
 * connection. If it has `recovered: false` (then `replay_truncated` says what was lost) or no `recovered`, the whole
 * `history` follows.
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

/** The position of a reader in the log, across reconnects. */
function createPosition(after: string | undefined) {
  let last: Cursor | undefined = parseCursor(after);
  let lastId = after;
  return {
    get lastId(): string | undefined {
      return lastId;
    },
    /** False if the event was delivered before. */
    advance({ id, event }: StreamMessage): boolean {
      if (event.type === 'connected' && event.recovered !== true) last = undefined; // the history follows again
      const cursor = parseCursor(id);
      if (cursor === undefined) return true;
      if (last !== undefined && cursor.epoch === last.epoch && cursor.offset <= last.offset) return false;
      last = cursor;
      lastId = id;
      return true;
    },
  };
}

/** How long the daemon asks to wait after a failure. Throws errors that a retry cannot fix. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof HttpError)) return undefined; // the connection broke
  if (!error.retryable) throw error;
  return error.retryAfterMs;
}

/** The events of one connection. */
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
      // Not validated: the daemon's tests check its events against the schemas.
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

/** The chunks of a body, until its end or an abort. (Streams are not iterable in every browser.) */
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
    reader.cancel().catch(() => undefined); // already closed or broken
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
