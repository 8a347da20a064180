import type { Clock } from '../../clock.ts';
import { StopReason } from '../stop-reason.ts';

/**
 * Combines the signal with a time limit, which aborts it with a `StopReason` of kind timeout. Dispose it to stop the
 * timer.
 */
export function withDeadline(signal: AbortSignal, { clock, ms }: { clock: Clock; ms: number }): Deadline {
  const reached = new AbortController();
  let leftMs = ms;
  let startedMs = 0;
  let pauses = 0;
  let timer = new AbortController();
  const start = () => {
    timer = new AbortController();
    startedMs = clock.monotonic();
    clock.sleep(leftMs, timer.signal).then(
      () => reached.abort(new StopReason('timeout', `Not finished within ${ms / 1000} s`)),
      () => undefined, // paused, or the operation has ended
    );
  };
  const stop = () => {
    timer.abort();
    leftMs = Math.max(0, leftMs - (clock.monotonic() - startedMs));
  };
  start();
  return {
    signal: AbortSignal.any([signal, reached.signal]),
    async paused(work) {
      pauses += 1;
      if (pauses === 1) stop();
      try {
        return await work();
      } finally {
        pauses -= 1;
        if (pauses === 0) start();
      }
    },
    [Symbol.dispose]() {
      pauses = Number.POSITIVE_INFINITY; // work that still waits starts no timer
      timer.abort();
    },
  };
}

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** The time of this work does not count. */
  paused<T>(work: () => Promise<T>): Promise<T>;
}
