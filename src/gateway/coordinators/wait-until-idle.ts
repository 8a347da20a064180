import { until } from '../../timing/until.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Coordinators } from './coordinators.ts';

const LOOK_AGAIN_MS = 100;

interface WaitOptions {
  all: boolean;
  timeoutMs: number;
  signal: AbortSignal;
  /** Called when one of them may have become idle. */
  onLook(): void;
}

/** Whether all workstreams, or one of them, had nothing more to do before the time was over. Rejects with the signal's reason. */
export async function waitUntilIdle(
  wsIds: readonly string[],
  { all, timeoutMs, signal, onLook }: WaitOptions,
  { deps: { clock }, parts: { workstreams } }: Pick<Coordinators, 'deps' | 'parts'>,
): Promise<boolean> {
  const over = new AbortController();
  let isLate = false;
  const late = clock.sleep(timeoutMs, over.signal).then(
    () => {
      isLate = true;
    },
    () => undefined, // the wait is over
  );
  /** Resolves when it may be idle; undefined: it is. */
  const next = (wsId: string): Promise<unknown> | undefined => {
    const found = workstreams.find(wsId, DAEMON);
    // Held messages do not count as busy, but they have no answer yet.
    if (!found || !(found.busy || found.queue.length > 0)) return undefined;
    const lookAgain = () => clock.sleep(LOOK_AGAIN_MS, over.signal).catch(() => undefined); // a message is being stored
    return found.current?.ended ?? (found.place.isTaken ? found.place.settled() : lookAgain());
  };
  try {
    for (;;) {
      onLook();
      const waits = wsIds.map(next).filter((wait) => wait !== undefined);
      if (all ? waits.length === 0 : waits.length < wsIds.length) return true;
      if (isLate) return false;
      await until(Promise.race([late, ...waits]), signal);
    }
  } finally {
    over.abort(new Error('the wait is over'));
  }
}
