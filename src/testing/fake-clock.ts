import type { Clock } from '../clock.ts';

interface Sleeper {
  dueMs: number;
  wake(): void;
}

/** A clock that stands still until `advance` moves it. Sleepers wake in the order of their due times. */
export function fakeClock(startMs = 0): Clock & { advance(ms: number): Promise<void>; jump(ms: number): void } {
  let elapsedMs = 0;
  let wallMs = startMs;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => Math.floor(wallMs), // sleepers may be due between two milliseconds
    monotonic: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const give = () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        };
        const sleeper: Sleeper = {
          dueMs: elapsedMs + ms,
          wake() {
            signal.removeEventListener('abort', give);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', give, { once: true });
      }),
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      for (;;) {
        const next = [...sleepers].filter((s) => s.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (!next) break;
        wallMs += Math.max(0, next.dueMs - elapsedMs);
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        sleepers.delete(next);
        next.wake();
        await new Promise(setImmediate);
      }
      wallMs += untilMs - elapsedMs;
      elapsedMs = untilMs;
      await new Promise(setImmediate);
    },
    /** Makes the wall clock jump, as when a machine's time is set; durations are not affected. */
    jump(ms) {
      wallMs += ms;
    },
  };
}
