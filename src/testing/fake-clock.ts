import type { Clock } from '../clock.ts';

interface Sleeper {
  dueMs: number;
  wake(): void;
}

export interface FakeClock extends Clock {
  /** Sleepers wake in the order of their due times; those that sleep again may wake many times. */
  advance(ms: number): Promise<void>;
  /** Like a machine that sleeps: whoever is due meanwhile wakes once, at the end. For hours that nobody has to see pass. */
  leap(ms: number): Promise<void>;
  /** Makes the wall clock jump, as when a machine's time is set; durations are not affected. */
  jump(ms: number): void;
}

/** A clock that stands still until it is moved. */
export function fakeClock(startMs = 0): FakeClock {
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
    async leap(ms) {
      elapsedMs += ms;
      wallMs += ms;
      const due = [...sleepers].filter((s) => s.dueMs <= elapsedMs).sort((a, b) => a.dueMs - b.dueMs);
      for (const sleeper of due) {
        if (!sleepers.delete(sleeper)) continue; // it was aborted meanwhile
        sleeper.wake();
        await new Promise(setImmediate);
      }
      await new Promise(setImmediate);
    },
    jump(ms) {
      wallMs += ms;
    },
  };
}
