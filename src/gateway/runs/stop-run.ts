import { RunSuperseded, StepOutdated } from '../../agent/run/recorder.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import { lastWord } from './cancel-receipt.ts';
import type { LiveRun } from './live-run.ts';

/** A worker that does not follow a cancel within this time is abandoned, as with a forced cancel. */
const CANCEL_MS = 5_000;
const MAX_REFUSALS = 5;

/**
 * Cancels a run. Resolves when its end is recorded or, while the store cannot be written, when the run has stopped and
 * its worker keeps trying to record the end. `force` does not wait for the worker if the store can be written.
 */
async function stopRun(live: LiveRun, { force, reason = byClient(), clock }: StopOptions): Promise<void> {
  live.stop(reason);
  if (force && (await isAbandoned(live))) return;
  const inTime = new AbortController();
  const late = clock.sleep(CANCEL_MS, inTime.signal).then(
    () => abandon(live),
    () => undefined, // it ended in time
  );
  // The daemon stops: nobody else records the cancel.
  const left = live.suspended.then(() => abandon(live));
  try {
    await Promise.race([live.ended, live.stalled, late, left]);
  } finally {
    inTime.abort();
  }
}

/** Cancels a run, if there is one, while its background commands end. `force` does not wait for those either. Whether there was a run. */
export async function stopWork(
  live: LiveRun | undefined,
  ended: Promise<void>,
  { force, reason, clock }: StopOptions,
): Promise<boolean> {
  await Promise.all([force ? undefined : ended, live && stopRun(live, { force, reason, clock })]);
  return live !== undefined;
}

/** The default reason of a cancel. */
export const byClient = () => new StopReason('cancel', 'a client cancelled it', { isByUser: true });

export interface StopOptions {
  force: boolean;
  /** Default: a client cancels it. */
  reason?: StopReason | undefined;
  clock: Clock;
}

/** False when the store cannot be written; the caller then waits for the worker. */
async function isAbandoned(live: LiveRun): Promise<boolean> {
  try {
    await abandon(live);
    return true;
  } catch (error) {
    if (isUnavailable(error)) return false;
    throw error;
  }
}

async function abandon(live: LiveRun): Promise<void> {
  let refusals = 0;
  while (live.progress.phase !== 'ended') {
    try {
      return await live.supersede(() => lastWord(live));
    } catch (error) {
      if (error instanceof RunSuperseded) return; // another cancel was faster
      // It was decided, or ended, at the same moment, so the final step must be computed again.
      if (!(error instanceof StepOutdated) || ++refusals === MAX_REFUSALS) throw error;
    }
  }
}
