import type { Job } from '../../cron/jobs/job.ts';
import type { Claim, OpenOccurrence, Settled } from '../../cron/occurrence.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import { isText, type ReadStored } from '../store/stored-value.ts';
import { isDefinition } from './job-rows.ts';

/** The data of a start record. It belongs into the transaction that accepts the run. */
export interface Start {
  /** The scheduler that holds the claim. */
  owner: string;
  nowMs: number;
  runId?: string | undefined;
  sessionKey?: string | undefined;
}

/** Names the statement that is refused when another scheduler has the claim, or the occurrence was begun before. */
export const CLAIM = 'claim';

/** Refuses the whole unit when another scheduler has the claim, or the occurrence was begun before. */
export const startStatements = (claim: Claim, { owner, nowMs, runId, sessionKey }: Start): Statement[] => [
  statementOf(
    fenced(claim)
      .set({
        status: 'started',
        attempts: claim.attempts + 1,
        started_ms: nowMs,
        spent_ms: 0,
        run_id: runId ?? null,
        session_key: sessionKey ?? null,
      })
      .where('status', '=', 'claimed'),
    1,
    CLAIM,
  ),
  statementOf(
    build.insertInto('cron_attempts').values({
      job_id: claim.jobId,
      scheduled_ms: claim.scheduledMs,
      attempt: claim.attempts + 1,
      epoch: claim.epoch,
      owner,
      started_ms: nowMs,
      run_id: runId ?? null,
    }),
    1,
  ),
];

interface NewClaim {
  jobId: string;
  scheduledMs: number;
  trigger: Claim['trigger'];
  owner: string;
  leaseMs: number;
  /** The worker that has the job; default: the active daemon. */
  machine?: string | null;
}

/** Refused when the instant has a row, or the job an open occurrence. */
export const insertClaim = ({ jobId, scheduledMs, trigger, owner, leaseMs, machine = null }: NewClaim): Statement =>
  statementOf(
    build.insertInto('cron_occurrences').values({
      ...rowOf(jobId, { fromMs: scheduledMs, throughMs: scheduledMs, count: 1 }),
      trigger,
      status: 'claimed',
      owner,
      epoch: 1,
      lease_ms: leaseMs,
      machine,
    }),
    1,
  );

/** Records instants without a run, already ended. */
export const insertSettled = (
  jobId: string,
  settled: Settled,
  { nowMs, nextRunMs }: { nowMs: number; nextRunMs?: number | undefined },
): Statement =>
  statementOf(
    build.insertInto('cron_occurrences').values({
      ...rowOf(jobId, settled),
      trigger: 'schedule',
      status: settled.status,
      ended_ms: nowMs,
      error: settled.reason,
      next_run_ms: nextRunMs ?? null,
    }),
    1,
  );

const rowOf = (
  jobId: string,
  { fromMs, throughMs, count }: Pick<Settled, 'fromMs' | 'throughMs' | 'count'>,
): Omit<CronOccurrenceTable, 'trigger' | 'status'> => ({
  job_id: jobId,
  scheduled_ms: fromMs,
  through_ms: throughMs,
  count: count ?? null,
  owner: null,
  epoch: 0,
  lease_ms: null,
  attempts: 0,
  retry_ms: null,
  run_id: null,
  session_key: null,
  started_ms: null,
  ended_ms: null,
  error: null,
  summary: null,
  next_run_ms: null,
  spent_ms: 0,
  duration_ms: null,
  removed_job_json: null,
  machine: null,
});

/** Restricts an update to the holder of the claim, while the occurrence is open. */
export const fenced = ({ jobId, scheduledMs, epoch }: Claim) =>
  build
    .updateTable('cron_occurrences')
    .where('job_id', '=', jobId)
    .where('scheduled_ms', '=', scheduledMs)
    .where('epoch', '=', epoch)
    .where('ended_ms', 'is', null);

export function toOpenOccurrence(row: CronOccurrenceTable, read: ReadStored): OpenOccurrence | undefined {
  const { status } = row;
  if (status !== 'claimed' && status !== 'started' && status !== 'retrying') return undefined;
  const removedJob =
    row.removed_job_json === null ? undefined : read(row.removed_job_json, `the removed job ${row.job_id}`, isJob);
  return {
    jobId: row.job_id,
    scheduledMs: row.scheduled_ms,
    trigger: row.trigger,
    epoch: row.epoch,
    attempts: row.attempts,
    status,
    owner: row.owner ?? '',
    leaseMs: row.lease_ms ?? 0,
    runId: row.run_id ?? undefined,
    startedMs: row.started_ms ?? undefined,
    spentMs: row.spent_ms,
    retryMs: row.retry_ms ?? undefined,
    error: row.error ?? undefined,
    ...(removedJob && { removedJob }),
  };
}

const isJob = (value: unknown): value is Job => isDefinition(value) && 'id' in value && isText(value.id);
