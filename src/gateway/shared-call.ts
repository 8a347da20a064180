import type { Call } from './call.ts';

type Waiting = Pick<Call, 'signal' | 'interim'>;

/** A running call that several callers with the same idempotency key wait for. */
export interface SharedCall {
  readonly digest: string;
  /** Aborts when the last caller disconnects. */
  readonly signal: AbortSignal;
  join(caller: Waiting): void;
  /** Sends to everyone who has joined, and to those who join later. */
  interim(payload: unknown): void;
  /** Releases the callers' signals. */
  end(): void;
}

export function createSharedCall(digest: string): SharedCall {
  const gone = new AbortController();
  const leave = new Map<Waiting, () => void>();
  let said: { payload: unknown } | undefined;
  return {
    digest,
    signal: gone.signal,
    join(caller) {
      const onAbort = () => {
        leave.delete(caller);
        if (leave.size === 0) gone.abort(caller.signal.reason);
      };
      if (!caller.signal.aborted) {
        leave.set(caller, () => caller.signal.removeEventListener('abort', onAbort));
        caller.signal.addEventListener('abort', onAbort, { once: true });
      }
      if (said) caller.interim(said.payload);
    },
    interim(payload) {
      said = { payload };
      for (const caller of leave.keys()) caller.interim(payload);
    },
    end() {
      for (const letGo of leave.values()) letGo();
      leave.clear();
    },
  };
}
