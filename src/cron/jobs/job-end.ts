import { ALERT_AFTER, holdDelayMs, MAX_TRIES, retryDelayMs } from '../backoff.ts';
import type { Claim, Outcome, Settled } from '../occurrence.ts';
import type { Job, LastRun } from './job.ts';

/** An attempt that is over, and when. */
export interface Attempt {
  claim: Claim;
  outcome: Outcome;
  /** Absent when nothing began. */
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  endedMs: number;
}

/** What an attempt's end means for its job. */
export type JobEnd =
  | { kind: 'retry'; retryMs: number; job: Job }
  /** `job`: undefined when it is to be forgotten. */
  | { kind: 'final'; job: Job | undefined };

/** `isMoved`: it was given another schedule while it ran. */
export function jobAfter(job: Job, attempt: Attempt, { isMoved }: { isMoved: boolean }): JobEnd {
  const { claim, outcome, startedMs, durationMs, endedMs } = attempt;
  const { status, error } = outcome;
  const failures = failuresAfter(job, outcome);
  const said = { scheduledMs: claim.scheduledMs, ...(error !== undefined && { error }) };
  const last =
    status === 'missed'
      ? lastWith(job.last, { ...said, error: error ?? status })
      : { ...said, startedMs, durationMs, status };
  const ended: Job = { ...job, failures, last };
  if (isMoved) return { kind: 'final', job: ended };
  if (job.schedule.kind === 'at') return endOfOnce(ended, attempt);
  const delayMs = status === 'error' ? holdDelayMs(failures) : 0;
  const isTelling = status === 'error' || status === 'ok';
  const holdMs = delayMs > 0 ? endedMs + delayMs : undefined;
  return { kind: 'final', job: isTelling ? { ...ended, holdMs } : ended };
}

/** A job for one instant: tried again after an error, over otherwise. */
function endOfOnce(job: Job, { claim, outcome: { status }, endedMs }: Attempt): JobEnd {
  const tries = claim.attempts + 1;
  if (status === 'error' && claim.trigger === 'schedule' && job.enabled && tries < MAX_TRIES) {
    return { kind: 'retry', retryMs: endedMs + retryDelayMs(tries), job };
  }
  if (status === 'ok' && job.deleteAfterRun) return { kind: 'final', job: undefined };
  // Forced before it was due and without success: what was planned still stands.
  const isDone = status === 'ok' || claim.trigger === 'schedule';
  return { kind: 'final', job: isDone ? { ...job, enabled: false, nextMs: undefined } : job };
}

/** Errors in a row; what was skipped or interrupted says nothing of the job. */
const failuresAfter = ({ failures }: Job, { status }: Outcome): number =>
  status === 'error' ? failures + 1 : status === 'ok' ? 0 : failures;

export const isAlarming = (job: Job): boolean => job.last?.status === 'error' && job.failures >= ALERT_AFTER;

/** What was missed shows on the job, too, until it runs again; one that waits for nothing more is disabled. */
export function jobAfterMissing(job: Job, settled: readonly Settled[]): Job {
  const isOver = job.schedule.kind === 'at' && job.nextMs === undefined;
  const after = isOver ? { ...job, enabled: false } : job;
  const latest = settled.findLast(({ status }) => status === 'missed');
  if (!latest) return after;
  return { ...after, last: lastWith(job.last, { scheduledMs: latest.fromMs, error: latest.reason }) };
}

/** Its one time was missed, and nobody has run it since. */
export const isMissedForGood = ({ schedule, enabled, last }: Job): boolean =>
  schedule.kind === 'at' &&
  !enabled &&
  (last?.status === 'missed' ? last : last?.missed)?.scheduledMs === schedule.atMs;

const lastWith = (last: LastRun | undefined, missed: NonNullable<LastRun['missed']>): LastRun =>
  last === undefined || last.status === 'missed' ? { ...missed, status: 'missed' } : { ...last, missed };

/** The clock was set back: what is to come was neither handled nor missed. */
export const jobSetBack = (job: Job, { nowMs, nextMs }: { nowMs: number; nextMs: number | undefined }) => ({
  ...job,
  enabled: job.enabled || nextMs !== undefined,
  sinceMs: Math.min(job.sinceMs, nowMs),
  nextMs,
  handledMs: nowMs,
  last: lastBefore(job, nowMs),
});

function lastBefore({ last }: Job, nowMs: number): LastRun | undefined {
  if (last?.status === 'missed') return last.scheduledMs > nowMs ? undefined : last;
  const isAhead = last?.missed !== undefined && last.missed.scheduledMs > nowMs;
  return isAhead ? { ...last, missed: undefined } : last;
}

/** What the main session is told of the end of a job of its own session. */
export function lineForMain(
  { sessionTarget, isolation, tellMain, wakeMode }: Job,
  { status, summary, error }: Outcome,
) {
  if (sessionTarget === 'main' || tellMain === false) return undefined;
  const prefix = isolation?.postToMainPrefix?.trim() || 'Cron';
  const told = (status === 'ok' ? summary : (error ?? summary))?.trim() || status;
  const about = status === 'ok' ? prefix : `${prefix} (${status})`;
  return { text: `${about}: ${told}`, wakes: wakeMode === 'now' };
}
