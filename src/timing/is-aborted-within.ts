import type { Clock } from '../clock.ts';

/** Sleeps, and resolves to whether the signal aborted before the time was over. */
export const isAbortedWithin = (clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<boolean> =>
  clock.sleep(ms, signal).then(
    () => false,
    () => true,
  );
