import type { ExpressionBuilder } from 'kysely';
import { isRecord } from '../../../protocol/is-record.ts';
import type { Job, JobDefinition } from '../../cron/jobs/job.ts';
import { usedPeriod } from '../../cron/schedule/schedule.ts';
import type { CronJobTable } from '../store/schema/cron-schema.ts';
import type { Database } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import { isText, type ReadStored } from '../store/stored-value.ts';

/** Refused when a job with this id exists. `machine`: the worker that has it; null: the active daemon. */
export const insertJob = (job: Job, machine: string | null = null): Statement =>
  statementOf(
    build
      .insertInto('cron_jobs')
      .values({ job_id: job.id, created_ms: job.createdMs, machine, ...byHand(job), ...byRuns(job) }),
    1,
  );

/** A change by a caller; refused when the job has changed since `before`, by a caller or a run. */
export const updateJob = (before: Job, after: Job): Statement =>
  statementOf(unchanged(before).set({ ...byHand(after), ...byRuns(after) }), 1);

/** Refused like a change. */
export const deleteJob = (before: Job): Statement =>
  statementOf(build.deleteFrom('cron_jobs').where(asKnown(before)), 1);

/** A change by occurrences; refused when a caller or another scheduler has changed the job since `before`. */
export const moveJob = (before: Job, after: Job): Statement => statementOf(unchanged(before).set(byRuns(after)), 1);

/** Copies a removed job to its open occurrence, which still needs it. */
export const keepRemoved = (job: Job): Statement =>
  statementOf(
    build
      .updateTable('cron_occurrences')
      .set({ removed_job_json: JSON.stringify(job) })
      .where('job_id', '=', job.id)
      .where('ended_ms', 'is', null),
  );

const unchanged = (before: Job) => build.updateTable('cron_jobs').where(asKnown(before));

/** Each kind of change affects one of these: made by a caller, an instant handled, a run ended. */
const asKnown =
  (job: Job) =>
  ({ eb, and }: ExpressionBuilder<Database, 'cron_jobs'>) => {
    const { id, revision, nextMs } = job;
    const last = toLastText(job);
    return and([
      eb('job_id', '=', id),
      eb('revision', '=', revision),
      nextMs === undefined ? eb('next_ms', 'is', null) : eb('next_ms', '=', nextMs),
      last === null ? eb('last_json', 'is', null) : eb('last_json', '=', last),
    ]);
  };

/** A damaged text stays until another run ends. */
const toLastText = ({ last, damagedLast }: Job): string | null => (last ? JSON.stringify(last) : (damagedLast ?? null));

const byHand = (job: Job): Pick<CronJobTable, 'definition_json' | 'revision' | 'updated_ms'> => ({
  definition_json: JSON.stringify(definitionOf(job)),
  revision: job.revision,
  updated_ms: job.updatedMs,
});

const byRuns = (
  job: Job,
): Pick<CronJobTable, 'enabled' | 'since_ms' | 'next_ms' | 'handled_ms' | 'failures' | 'hold_ms' | 'last_json'> => ({
  enabled: job.enabled ? 1 : 0,
  since_ms: job.sinceMs,
  next_ms: job.nextMs ?? null,
  handled_ms: job.handledMs ?? null,
  failures: job.failures,
  hold_ms: job.holdMs ?? null,
  last_json: toLastText(job),
});

const definitionOf = (job: Job): JobDefinition => ({
  name: job.name,
  schedule: job.schedule,
  sessionTarget: job.sessionTarget,
  wakeMode: job.wakeMode,
  payload: job.payload,
  ...(job.isolation && { isolation: job.isolation }),
  ...(job.tellMain === false && { tellMain: false }),
  misfire: job.misfire,
  deleteAfterRun: job.deleteAfterRun,
  maxRunMs: job.maxRunMs,
  approval: job.approval,
  ...(job.sender !== undefined && { sender: job.sender }),
  ...(job.rights !== undefined && { rights: job.rights }),
  ...(job.label && { label: job.label }),
});

/** Undefined for a definition that is damaged. */
export function toJob(row: CronJobTable, read: ReadStored): Job | undefined {
  const stored = read(row.definition_json, `the definition of job ${row.job_id}`, isDefinition);
  if (!stored) return undefined;
  // Jobs of earlier versions have the period as requested.
  const definition = { ...stored, schedule: usedPeriod(stored.schedule) };
  return {
    ...definition,
    id: row.job_id,
    enabled: row.enabled === 1,
    revision: row.revision,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
    sinceMs: row.since_ms,
    nextMs: row.next_ms ?? undefined,
    handledMs: row.handled_ms ?? undefined,
    failures: row.failures,
    holdMs: row.hold_ms ?? undefined,
    ...toLast(row, read),
  };
}

function toLast({ job_id, last_json: text }: CronJobTable, read: ReadStored): Pick<Job, 'last' | 'damagedLast'> {
  if (text === null) return { last: undefined };
  const last = read(text, `the last run of job ${job_id}`, isLastRun);
  return last && JSON.stringify(last) === text ? { last } : { last: undefined, damagedLast: text };
}

export const isDefinition = (value: unknown): value is JobDefinition =>
  isRecord(value) && isText(value.name) && isRecord(value.schedule) && isRecord(value.payload);

const isLastRun = (value: unknown): value is NonNullable<Job['last']> => isRecord(value) && isText(value.status);
