import type { CronMisfire } from '../../protocol/cron.ts';

/** An instant noticed within this time counts as on time, because timers are late and processes take time to start. */
const IN_TIME_MS = 60_000;
/** How many of the latest instants the policy `all` runs without a number. */
const USUAL_ALL = 10;

/** Why an instant that did not begin must not run any more; undefined when it may run. */
export function whyTooLate(misfire: CronMisfire, scheduledMs: number, nowMs: number): string | undefined {
  const limitMs = Math.max(IN_TIME_MS, limitOf(misfire));
  if (nowMs - scheduledMs <= limitMs) return undefined;
  return misfire === 'skip'
    ? `its policy skips occurrences more than ${IN_TIME_MS / 1000} s late`
    : `it was then more than ${limitMs / 1000} s late`;
}

/** How many of the latest instants run one after another; undefined for at most one. */
export function maxAll(misfire: CronMisfire): number | undefined {
  if (misfire === 'all') return USUAL_ALL;
  return typeof misfire === 'object' && 'all' in misfire ? misfire.all : undefined;
}

function limitOf(misfire: CronMisfire): number {
  if (misfire === 'skip') return 0;
  return typeof misfire === 'object' && 'within' in misfire ? misfire.within : Number.POSITIVE_INFINITY;
}
