import type { Clock } from '../../clock.ts';
import { Roster } from '../../roster.ts';

/** Fixed timeouts that share one timer, because a timer each would cost more than a handshake. */
export interface Deadlines {
  /** Calls `onLate` after the time, unless the returned function is called before. */
  start(onLate: () => void): () => void;
}

interface Deadline {
  dueMs: number;
  onLate(): void;
  cancel(): void;
}

export function createDeadlines({ ms, clock }: { ms: number; clock: Pick<Clock, 'monotonic' | 'sleep'> }): Deadlines {
  /** Since all wait equally long, they are in the order of the deadlines. */
  const waiting = new Roster<Deadline>();
  const never = new AbortController().signal;
  let isWatching = false;

  async function watch(): Promise<void> {
    isWatching = true;
    for (let [next] = waiting; next; [next] = waiting) {
      await clock.sleep(Math.max(0, next.dueMs - clock.monotonic()), never);
      for (const late of waiting) {
        if (late.dueMs > clock.monotonic()) break;
        late.cancel();
        late.onLate();
      }
    }
    isWatching = false;
  }

  return {
    start(onLate) {
      const deadline: Deadline = { dueMs: clock.monotonic() + ms, onLate, cancel: () => undefined };
      deadline.cancel = waiting.add(deadline);
      if (!isWatching) void watch();
      return deadline.cancel;
    },
  };
}
