import { setTimeout as wait } from 'node:timers/promises';

/** Time as a dependency. Tests pass a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. For durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. Does not keep the process alive. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  // biome-ignore lint/plugin: the one place that asks the system.
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    try {
      let leftMs = ms;
      for (; leftMs > MAX_TIMER_MS; leftMs -= MAX_TIMER_MS) await wait(MAX_TIMER_MS, undefined, { signal, ref: false });
      await wait(leftMs, undefined, { signal, ref: false });
    } catch (error) {
      signal.throwIfAborted(); // the timer's own AbortError hides the reason
      throw error;
    }
  },
};
