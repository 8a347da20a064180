import { within } from '../support/deadline.ts';

/** How long a run may take, also on a busy machine. */
const PATIENCE_MS = 60_000;

/** Whether the daemon died before the work was over; if it died, the work may have failed. */
export const wasKilledBefore = (work: Promise<unknown>, exited: Promise<unknown>, tag: string): Promise<boolean> => {
  const killed = exited.then(() => true);
  const over = work.then(() => false).catch(() => killed);
  return inTime(Promise.race([killed, over]), `an end of ${tag}`);
};

/** Rejects if the work takes too long. */
export const inTime = <T>(work: Promise<T>, what: string): Promise<T> => within(work, PATIENCE_MS, () => what);
