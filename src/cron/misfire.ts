import type { CronMisfire } from '../../protocol/cron.ts';

/** An instant that is noticed no later than this was noticed in time: timers are late, processes start. */
const IN_TIME_MS = 60_000;
/** How many of the latest are run where all are wanted, and nobody says how many. */
const USUAL_ALL = 10;

/** Why an instant that nothing was begun for is not to run any more; undefined when it is. */
export function whyTooLate(misfire: CronMisfire, scheduledMs: number, nowMs: number): string | undefined {
  const limitMs = Math.max(IN_TIME_MS, limitOf(misfire));
  if (nowMs - scheduledMs <= limitMs) return undefined;
  return misfire === 'skip'
    ? `its policy skips what is over ${IN_TIME_MS / 1000} s late`
    : `by then it was more than ${limitMs / 1000} s late`;
}

/** How many of the latest are run one after the other; undefined: the latest at most. */
export function maxAll(misfire: CronMisfire): number | undefined {
  if (misfire === 'all') return USUAL_ALL;
  return typeof misfire === 'object' && 'all' in misfire ? misfire.all : undefined;
}

function limitOf(misfire: CronMisfire): number {
  if (misfire === 'skip') return 0;
  return typeof misfire === 'object' && 'within' in misfire ? misfire.within : Number.POSITIVE_INFINITY;
}
