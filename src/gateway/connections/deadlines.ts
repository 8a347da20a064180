import type { Clock } from '../../clock.ts';

/** What has to happen within a fixed time. One timer for all that wait: each of their own costs more than a handshake does. */
export interface Deadlines {
  /** Calls back when the time is over, unless the answer is called before. */
  start(onLate: () => void): () => void;
}

export function createDeadlines({ ms, clock }: { ms: number; clock: Pick<Clock, 'monotonic' | 'sleep'> }): Deadlines {
  /** As all wait equally long, in the order in which they are due. */
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
