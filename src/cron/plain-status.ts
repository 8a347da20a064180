import type { CronEvent, CronStatus } from '../../protocol/cron.ts';
import type { Job } from './jobs/job.ts';
import { type Attempt, isAlarming } from './jobs/job-end.ts';
import type { Settled } from './occurrence.ts';

/** The status for clients that know only the specification. */
export const toPlainStatus = (status: CronStatus): 'ok' | 'error' | 'skipped' =>
  status === 'missed' ? 'skipped' : status === 'interrupted' ? 'error' : status;

/** The event for instants without a run. */
export const toMissed = (job: Job, { fromMs, count, reason }: Settled, nextRunAtMs: number | undefined): CronEvent => ({
  jobId: job.id,
  action: 'missed',
  runAtMs: fromMs,
  status: 'skipped',
  error: count === 1 ? reason : `${count ?? 'many'} times: ${reason}`,
  ...(nextRunAtMs !== undefined && { nextRunAtMs }),
});

/** The events for the end of an attempt; `now` is the current job, if it still exists. */
export function toEnd(
  { ran, now, isForgotten }: { ran: Job; now: Job | undefined; isForgotten: boolean },
  attempt: Attempt,
  nextRunAtMs: number | undefined,
): CronEvent[] {
  const { error } = attempt.outcome;
  const jobId = ran.id;
  const events: CronEvent[] = [toFinished(ran, attempt, nextRunAtMs)];
  if (isForgotten) events.push({ jobId, action: 'removed' });
  if (now && isAlarming(now)) {
    events.push({ jobId, action: 'alert', status: 'error', ...(error !== undefined && { error }) });
  }
  return events;
}

function toFinished(
  job: Job,
  { claim: { scheduledMs }, outcome: { status, error, summary }, startedMs, durationMs }: Attempt,
  nextRunAtMs: number | undefined,
): CronEvent {
  if (status === 'missed') {
    const instant = { fromMs: scheduledMs, throughMs: scheduledMs, count: 1, status, reason: error ?? status };
    return toMissed(job, instant, nextRunAtMs);
  }
  return {
    jobId: job.id,
    action: 'finished',
    status: toPlainStatus(status),
    ...(startedMs !== undefined && { runAtMs: startedMs }),
    ...(durationMs !== undefined && { durationMs }),
    ...(error !== undefined && { error }),
    ...(summary !== undefined && { summary }),
    ...(nextRunAtMs !== undefined && { nextRunAtMs }),
  };
}
