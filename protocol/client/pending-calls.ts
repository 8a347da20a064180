import type { ResponseFrame } from '../frames.ts';
import type { MethodName } from '../index.ts';
import { LIMITS } from '../limits.ts';
import { toRequestError } from './connection.ts';
import { RequestError } from './request-error.ts';
import type { Timers } from './timers.ts';

/** Options of one call over a WebSocket. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Timeout until the last answer. Default: 30 s until the first answer. */
  timeoutMs?: number | undefined;
  /** Rejects with NotConnectedError instead of waiting for a connection: for what means the state of this moment. */
  atOnce?: boolean | undefined;
  /** Receives the first of two answers (`agent`: accepted). */
  onInterim?: ((payload: unknown) => void) | undefined;
  /** Receives the last answer before any later frame is handled; the promise resolves a little later. Must not throw. */
  onAnswer?: ((payload: unknown) => void) | undefined;
}

interface Pending {
  method: MethodName;
  params: unknown;
  sent: boolean;
  onInterim(payload: unknown): void;
  settle(outcome: { payload: unknown } | { error: unknown }): void;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Methods that answer twice on one id: `status: "accepted"`, then the final answer. A separate list, because the rows would
 * bring zod into the page; a test compares it with them.
 */
export const INTERIM_METHODS: ReadonlySet<MethodName> = new Set(['agent']);

/** Calls without an answer, up to the daemon's limit per connection; further calls are refused as BUSY. */
export class PendingCalls {
  readonly #timers: Timers;
  readonly #calls = new Map<string, Pending>();
  #lastId = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Registers a call; the next `eachUnsent` sends it. */
  add(method: MethodName, params: unknown, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal, timeoutMs, onInterim, onAnswer } = options;
      if (signal?.aborted) return reject(signal.reason);
      if (this.#calls.size >= LIMITS.inFlightPerConnection)
        return reject(new RequestError('BUSY', 'too many calls wait for an answer', { retryable: true }));
      this.#lastId += 1;
      const id = String(this.#lastId);
      const ms = timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const cancelTimer = this.#timers.after(ms, () =>
        settle({ error: new RequestError('TIMEOUT', `no answer to ${method} within ${ms} ms`, { retryable: true }) }),
      );
      const onAbort = () => settle({ error: signal?.reason });
      const settle: Pending['settle'] = (outcome) => {
        this.#calls.delete(id);
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
        if ('error' in outcome) return reject(outcome.error);
        onAnswer?.(outcome.payload);
        resolve(outcome.payload);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#calls.set(id, {
        method,
        params,
        sent: false,
        settle,
        onInterim(payload) {
          if (timeoutMs === undefined) cancelTimer();
          onInterim?.(payload);
        },
      });
    });
  }

  /** Sends, in call order, all calls that were not sent yet. `send` throws for a call that it refuses. */
  eachUnsent(send: (id: string, method: MethodName, params: unknown) => void): void {
    for (const [id, call] of [...this.#calls]) {
      if (call.sent) continue;
      call.sent = true;
      try {
        send(id, call.method, call.params);
      } catch (error) {
        call.settle({ error });
      }
    }
  }

  onResponse(frame: ResponseFrame): void {
    const call = this.#calls.get(frame.id);
    if (call === undefined) return; // the call timed out or was aborted
    if (!frame.ok) call.settle({ error: toRequestError(frame) });
    else if (INTERIM_METHODS.has(call.method) && isAccepted(frame.payload)) call.onInterim(frame.payload);
    else call.settle({ payload: frame.payload });
  }

  /** Fails the calls sent over a connection that ended; with `all`, also the calls that were not sent yet. */
  fail(error: Error, { all }: { all: boolean }): void {
    for (const call of [...this.#calls.values()]) if (all || call.sent) call.settle({ error });
  }
}

function isAccepted(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'status' in payload && payload.status === 'accepted';
}
