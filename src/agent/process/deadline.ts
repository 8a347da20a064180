import type { Clock } from '../../clock.ts';
import { StopReason } from '../stop-reason.ts';

/**
 * Combines the signal with a time limit, which aborts it with a `StopReason` of kind timeout. Dispose it to stop the
 * timer.
 */
export function withDeadline(signal: AbortSignal, { clock, ms }: { clock: Clock; ms: number }): Deadline {
  const reached = new AbortController();
  const disposed = new AbortController();
  clock.sleep(ms, disposed.signal).then(
    () => reached.abort(new StopReason('timeout', `Not finished within ${ms / 1000} s`)),
    () => undefined, // disposed: the operation has ended
  );
  return { signal: AbortSignal.any([signal, reached.signal]), [Symbol.dispose]: () => disposed.abort() };
}

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}
