import type { Timers } from '../timers.ts';

/** Timers that stand still until `advance`; `random` returns 0, so there is no jitter. */
export function fakeTimers(): Timers & { advance(ms: number): Promise<void> } {
  let nowMs = 0;
  const due = new Map<() => void, number>();
  return {
    now: () => nowMs,
    random: () => 0,
    after(ms, callback) {
      const entry = () => callback();
      due.set(entry, nowMs + ms);
      return () => due.delete(entry);
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...due].filter(([, at]) => at <= untilMs).sort(([, a], [, b]) => a - b);
        if (next === undefined) break;
        due.delete(next[0]);
        nowMs = Math.max(nowMs, next[1]);
        next[0]();
        await settled();
      }
      nowMs = untilMs;
      await settled();
    },
  };
}

/** Resolves when all pending promise callbacks have run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
