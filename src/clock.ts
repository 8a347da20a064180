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
  // Not the one of `node:timers/promises`: most sleeps are interrupted, which costs that one an error of its own each time.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let leftMs = ms;
      let timer: NodeJS.Timeout;
      const nap = () => {
        const napMs = Math.min(leftMs, MAX_TIMER_MS);
        leftMs -= napMs;
        // biome-ignore lint/style/noRestrictedGlobals: the one place that waits.
        timer = setTimeout(leftMs > 0 ? nap : wake, napMs).unref();
      };
      const wake = () => {
        signal.removeEventListener('abort', interrupt);
        resolve();
      };
      const interrupt = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener('abort', interrupt, { once: true });
      nap();
    }),
};

/**
 * Keeps the process alive until it is disposed, because waits of the clock do not. A start may wait for nothing else, such
 * as for the end of commands that a killed daemon left.
 */
export function keepAwake(): Disposable {
  // biome-ignore lint/style/noRestrictedGlobals: it waits for nothing.
  const timer = setInterval(() => undefined, MAX_TIMER_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
