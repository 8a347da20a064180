import type { Clock } from '../../clock.ts';

/** Fixed timeouts that share one timer, because a timer each would cost more than a handshake. */
export interface Deadlines {
  /** Calls `onLate` after the time, unless the returned function is called before. */
  start(onLate: () => void): () => void;
}

export function createDeadlines({ ms, clock }: { ms: number; clock: Pick<Clock, 'monotonic' | 'sleep'> }): Deadlines {
  /** Since all wait equally long, the insertion order is the order of the deadlines. */
  const waiting = new Set<{ dueMs: number; onLate(): void }>();
  const never = new AbortController().signal;
  let isWatching = false;

  async function watch(): Promise<void> {
    isWatching = true;
    for (let [next] = waiting; next; [next] = waiting) {
      await clock.sleep(Math.max(0, next.dueMs - clock.monotonic()), never);
      for (const late of waiting) {
        if (late.dueMs > clock.monotonic()) break;
        waiting.delete(late);
        late.onLate();
      }
    }
    isWatching = false;
  }

  return {
    start(onLate) {
      const deadline = { dueMs: clock.monotonic() + ms, onLate };
      waiting.add(deadline);
      if (!isWatching) void watch();
      return () => void waiting.delete(deadline);
    },
  };
}
