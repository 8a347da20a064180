import { ALERT_AFTER, holdDelayMs, MAX_TRIES, retryDelayMs } from '../backoff.ts';
import type { Claim, Outcome, Settled } from '../occurrence.ts';
import type { Job, LastRun } from './job.ts';

/** A finished attempt and its times. */
export interface Attempt {
  claim: Claim;
  outcome: Outcome;
  /** Absent when nothing began. */
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  endedMs: number;
}

/** How the end of an attempt affects its job. */
export type JobEnd =
  | { kind: 'retry'; retryMs: number; job: Job }
  /** `job`: undefined when the job is deleted. */
  | { kind: 'final'; job: Job | undefined };

/** `isMoved`: the schedule changed during the run. */
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

/** The end of a job with a single instant: retried after an error, otherwise over. */
function endOfOnce(job: Job, { claim, outcome: { status }, endedMs }: Attempt): JobEnd {
  const tries = claim.attempts + 1;
  if (status === 'error' && claim.trigger === 'schedule' && job.enabled && tries < MAX_TRIES) {
    return { kind: 'retry', retryMs: endedMs + retryDelayMs(tries), job };
  }
  if (status === 'ok' && job.deleteAfterRun) return { kind: 'final', job: undefined };
  // A forced run before the planned time, without success, does not replace the planned run.
  const isDone = status === 'ok' || claim.trigger === 'schedule';
  return { kind: 'final', job: isDone ? { ...job, enabled: false, nextMs: undefined } : job };
}

/** Consecutive errors. Skipped and interrupted attempts do not count. */
const failuresAfter = ({ failures }: Job, { status }: Outcome): number =>
  status === 'error' ? failures + 1 : status === 'ok' ? 0 : failures;

export const isAlarming = (job: Job): boolean => job.last?.status === 'error' && job.failures >= ALERT_AFTER;

/** Shows the missed instant on the job until its next run. Disables a job that has no further instant. */
export function jobAfterMissing(job: Job, settled: readonly Settled[]): Job {
  const isOver = job.schedule.kind === 'at' && job.nextMs === undefined;
  const after = isOver ? { ...job, enabled: false } : job;
  const latest = settled.findLast(({ status }) => status === 'missed');
  if (!latest) return after;
  return { ...after, last: lastWith(job.last, { scheduledMs: latest.fromMs, error: latest.reason }) };
}

/** Whether its single instant was missed and it has not run since. */
export const isMissedForGood = ({ schedule, enabled, last }: Job): boolean =>
  schedule.kind === 'at' &&
  !enabled &&
  (last?.status === 'missed' ? last : last?.missed)?.scheduledMs === schedule.atMs;

const lastWith = (last: LastRun | undefined, missed: NonNullable<LastRun['missed']>): LastRun =>
  last === undefined || last.status === 'missed' ? { ...missed, status: 'missed' } : { ...last, missed };

/** The job after the clock was set back: instants in the future are neither handled nor missed. */
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

/** The line that the main session gets when an isolated run ends. */
export function lineForMain(
  { sessionTarget, isolation, tellMain, wakeMode, rights }: Job,
  { status, summary, error, taint }: Outcome,
) {
  if (sessionTarget === 'main' || tellMain === false) return undefined;
  const prefix = isolation?.postToMainPrefix?.trim() || 'Cron';
  const told = (status === 'ok' ? summary : (error ?? summary))?.trim() || status;
  const about = status === 'ok' ? prefix : `${prefix} (${status})`;
  return { text: `${about}: ${told}`, wakes: wakeMode === 'now', ...(rights && { rights }), ...(taint && { taint }) };
}
