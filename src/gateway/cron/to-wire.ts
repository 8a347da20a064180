import type { CronExtendedJob, CronJob, CronOccurrence, CronRun, CronStatus } from '../../../protocol/cron.ts';
import type { Job, LastRun } from '../../cron/jobs/job.ts';
import { isAlarming } from '../../cron/jobs/job-end.ts';
import { toPlainStatus } from '../../cron/plain-status.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import type { ListedJob } from './listed-job.ts';

/** The fields of the specification and no others. */
export function toCronJob({ job, nextRunMs, runningSinceMs }: ListedJob): CronJob {
  const { last } = job;
  const said = saidOf(job);
  return {
    id: job.id,
    name: job.name,
    enabled: job.enabled,
    createdAtMs: job.createdMs,
    updatedAtMs: job.updatedMs,
    schedule: job.schedule,
    sessionTarget: job.sessionTarget,
    wakeMode: job.wakeMode,
    payload: job.payload,
    ...(job.isolation && { isolation: job.isolation }),
    state: {
      nextRunAtMs: nextRunMs,
      runningAtMs: runningSinceMs,
      lastRunAtMs: last?.startedMs ?? undefined,
      lastDurationMs: last?.durationMs ?? undefined,
      lastError: said?.error,
      ...(said && { lastStatus: toPlainStatus(said.status) }),
    },
  };
}

export function toExtendedJob(listed: ListedJob): CronExtendedJob {
  const { job, machine } = listed;
  const plain = toCronJob(listed);
  return {
    ...plain,
    ...(machine !== null && { nodeId: machine }),
    revision: job.revision,
    misfire: job.misfire,
    deleteAfterRun: job.deleteAfterRun,
    maxRunMs: job.maxRunMs,
    approval: job.approval,
    ...(job.tellMain === false && { tellMain: false }),
    state: {
      ...plain.state,
      lastStatus: saidOf(job)?.status,
      lastScheduledAtMs: saidOf(job)?.scheduledMs,
      ...(job.failures > 0 && { consecutiveErrors: job.failures }),
      ...(isAlarming(job) && { alert: true }),
      backoffUntilMs: job.holdMs ?? undefined,
    },
  };
}

/** The last instant that ended, with or without a run. */
const saidOf = ({ last }: Job): Pick<LastRun, 'status' | 'scheduledMs' | 'error'> | undefined =>
  last?.missed ? { ...last.missed, status: 'missed' } : last;

/** An ended occurrence. */
export function toCronRun(row: CronOccurrenceTable): CronRun {
  const status = statusOf(row) ?? 'interrupted';
  return { ...lineOf(row), ts: row.ended_ms ?? 0, status: toPlainStatus(status) };
}

export function toOccurrence(row: CronOccurrenceTable): CronOccurrence {
  const isRange = row.count !== 1;
  return {
    ...lineOf(row),
    ts: row.ended_ms ?? undefined,
    status: statusOf(row) ?? undefined,
    scheduledAtMs: row.scheduled_ms,
    ...(isRange && { throughMs: row.through_ms }),
    count: isRange ? (row.count ?? undefined) : undefined,
    trigger: row.trigger,
    attempts: row.attempts,
    retryAtMs: row.retry_ms ?? undefined,
    runId: row.run_id ?? undefined,
    sessionKey: row.session_key ?? undefined,
  };
}

function lineOf(row: CronOccurrenceTable) {
  const isWaiting = row.status === 'claimed'; // waits for a retry: the other fields describe the previous attempt
  return {
    jobId: row.job_id,
    action: 'finished' as const,
    error: row.error ?? undefined,
    summary: row.summary ?? undefined,
    runAtMs: isWaiting ? undefined : (row.started_ms ?? undefined),
    durationMs: row.duration_ms ?? undefined,
    nextRunAtMs: row.next_run_ms ?? undefined,
  };
}

const statusOf = ({ status }: CronOccurrenceTable): CronStatus | undefined =>
  status === 'claimed' || status === 'started' || status === 'retrying' ? undefined : status;
