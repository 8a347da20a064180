import { isDeepStrictEqual } from 'node:util';
import type { CronMisfire, CronPayload, CronSchedule } from '../../../protocol/cron.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { nextOf } from '../schedule/next-of.ts';
import { isMoreFrequentThanDaily, usedPeriod } from '../schedule/schedule.ts';
import { checkSchedule } from '../schedule/schedule-check.ts';
import { resolveTimeZone } from '../schedule/schedule-zone.ts';
import type { Job, JobDefinition } from './job.ts';

/** When and where a job is created or changed. */
export interface Circumstances {
  nowMs: number;
  /** An IANA name, used for schedules without a zone. It is stored, so it applies even after the host has moved. */
  hostTimeZone: string;
}

type Asked = Omit<Params<'cron.add'>, 'extended' | 'idempotencyKey'>;
type Patch = Params<'cron.update'>['patch'];

const DEFAULT_MAX_RUN_MS = 3_600_000;
const MAX_DEFAULT_NAME = 60;
/** The longest default time in which a missed instant may still run. */
const MAX_WITHIN_MS = 7 * 86_400_000;
/** Where the shortest interval of a schedule is measured, and over how many instants: more than a week of days. */
const SOME_MONDAY_MS = Date.UTC(2024, 0, 1);
const LOOKED_AT = 8;

/** Creates a job. Throws INVALID_REQUEST naming the field. */
export function newJob(asked: Asked, { id, ...when }: Circumstances & { id: string }): Job {
  const definition = defined(asked, when);
  const enabled = asked.enabled ?? true;
  return {
    ...definition,
    id,
    enabled,
    revision: 1,
    createdMs: when.nowMs,
    updatedMs: when.nowMs,
    ...fresh(definition.schedule, enabled, when.nowMs),
    handledMs: undefined,
    last: undefined,
  };
}

/** Applies a change without modifying the original job. Throws INVALID_REQUEST naming the field. */
export function changedJob(job: Job, patch: Patch, when: Circumstances): Job {
  const definition = defined(merged(job, patch), { ...when, anchorMs: job.createdMs });
  const enabled = patch.enabled ?? job.enabled;
  const isSame = patch.schedule === undefined || isDeepStrictEqual(definition.schedule, job.schedule);
  const schedule = isSame ? job.schedule : definition.schedule; // the same object: callers compare by identity
  const changed: Job = {
    ...job,
    ...definition,
    schedule,
    enabled,
    revision: job.revision + 1,
    updatedMs: when.nowMs,
  };
  if (!isMoved(job, changed)) return changed;
  checkIsToCome(job, changed);
  return { ...changed, ...fresh(schedule, enabled, when.nowMs) };
}

/** Whether the second job has other instants than the first. */
export const isMoved = (before: Job, after: Job): boolean =>
  after.schedule !== before.schedule || after.enabled !== before.enabled;

/** Refuses an instant that already has a record. */
function checkIsToCome({ enabled, handledMs }: Job, after: Job): void {
  if (!after.enabled || after.schedule.kind !== 'at' || after.schedule.atMs !== handledMs) return;
  throw enabled
    ? wrongField('schedule.atMs', 'this time is already over; give the job a new one')
    : wrongField('enabled', 'the only time of the job is over; set a new one (schedule.atMs)');
}

/** A new schedule gets its default misfire policy, unless the policy was chosen explicitly. */
const merged = (job: Job, patch: Patch): Omit<Asked, 'enabled'> => ({
  name: patch.name ?? job.name,
  schedule: patch.schedule ?? job.schedule,
  sessionTarget: patch.sessionTarget ?? job.sessionTarget,
  wakeMode: patch.wakeMode ?? job.wakeMode,
  payload: patch.payload ?? job.payload,
  isolation: patch.isolation ?? job.isolation,
  misfire: patch.misfire ?? (patch.schedule && hasDefaultMisfire(job) ? undefined : job.misfire),
  ...mergedLimits(job, patch),
});

const mergedLimits = (
  job: Job,
  patch: Patch,
): Pick<Asked, 'deleteAfterRun' | 'maxRunMs' | 'approval' | 'tellMain'> => ({
  deleteAfterRun: patch.deleteAfterRun ?? job.deleteAfterRun,
  maxRunMs: patch.maxRunMs ?? job.maxRunMs,
  approval: patch.approval ?? job.approval,
  tellMain: patch.tellMain ?? job.tellMain,
});

function fresh(schedule: CronSchedule, enabled: boolean, nowMs: number) {
  const first = schedule.kind === 'at' ? schedule.atMs : nextOf(schedule, nowMs);
  return {
    sinceMs: nowMs,
    nextMs: enabled ? first : undefined,
    failures: 0,
    holdMs: undefined,
  };
}

function defined(
  asked: Omit<Asked, 'enabled'>,
  { nowMs, hostTimeZone, anchorMs = nowMs }: Circumstances & { anchorMs?: number },
): JobDefinition {
  const wrong = checkSchedule(asked.schedule, nowMs);
  if (wrong) throw wrongField(`schedule.${wrong.field}`, wrong.problem, { separator: ' ' });
  checkTarget(asked);
  const schedule = resolved(asked.schedule, { hostTimeZone, anchorMs });
  if (asked.deleteAfterRun && schedule.kind !== 'at') {
    throw wrongField('deleteAfterRun', 'only a job with schedule.kind="at" can be deleted after its run');
  }
  return {
    name: asked.name?.trim() || nameOf(asked.payload),
    schedule,
    sessionTarget: asked.sessionTarget,
    wakeMode: asked.wakeMode,
    payload: asked.payload,
    isolation: asked.isolation,
    tellMain: asked.tellMain === false ? false : undefined,
    misfire: asked.misfire ?? defaultMisfire(schedule),
    deleteAfterRun: asked.deleteAfterRun ?? false,
    maxRunMs: asked.maxRunMs ?? DEFAULT_MAX_RUN_MS,
    approval: asked.approval ?? { mode: 'deny' },
  };
}

function checkTarget({ sessionTarget, payload }: Pick<Asked, 'sessionTarget' | 'payload'>): void {
  if (sessionTarget === 'main' && payload.kind !== 'systemEvent') {
    throw new GatewayError('INVALID_REQUEST', 'main cron jobs require payload.kind="systemEvent"');
  }
  if (sessionTarget === 'isolated' && payload.kind !== 'agentTurn') {
    throw new GatewayError('INVALID_REQUEST', 'isolated cron jobs require payload.kind="agentTurn"');
  }
  const [field, text] = payload.kind === 'systemEvent' ? ['text', payload.text] : ['message', payload.message];
  if (text.trim() === '') throw wrongField(`payload.${field}`, 'must not be blank', { separator: ' ' });
}

/** Adds everything that the next instant depends on. */
function resolved(
  schedule: CronSchedule,
  { hostTimeZone, anchorMs }: { hostTimeZone: string; anchorMs: number },
): CronSchedule {
  if (schedule.kind === 'every') return { ...usedPeriod(schedule), anchorMs: schedule.anchorMs ?? anchorMs };
  if (schedule.kind === 'cron') return { ...schedule, tz: resolveTimeZone(schedule.tz, hostTimeZone) ?? 'UTC' };
  return schedule;
}

/**
 * A job that runs daily or less often is useless at another time of day, so it may run late only within a quarter of
 * its interval.
 */
function defaultMisfire(schedule: CronSchedule): CronMisfire {
  if (schedule.kind === 'at' || isMoreFrequentThanDaily(schedule)) return 'once';
  const distanceMs = shortestDistanceMs(schedule);
  return distanceMs === undefined ? 'once' : { within: Math.min(MAX_WITHIN_MS, Math.round(distanceMs / 4)) };
}

const hasDefaultMisfire = ({ misfire, schedule }: Job): boolean => isDeepStrictEqual(misfire, defaultMisfire(schedule));

/** The shortest interval between consecutive instants. Measured from a fixed date, so the answer never changes. */
function shortestDistanceMs(schedule: CronSchedule): number | undefined {
  let shortestMs: number | undefined;
  let before = nextOf(schedule, SOME_MONDAY_MS);
  for (let looked = 0; looked < LOOKED_AT && before !== undefined; looked += 1) {
    const next = nextOf(schedule, before);
    if (next !== undefined) shortestMs = Math.min(shortestMs ?? Number.POSITIVE_INFINITY, next - before);
    before = next;
  }
  return shortestMs;
}

function nameOf(payload: CronPayload): string {
  const [line = ''] = (payload.kind === 'systemEvent' ? payload.text : payload.message).trim().split('\n', 1);
  return line.length <= MAX_DEFAULT_NAME ? line : `${line.slice(0, MAX_DEFAULT_NAME - 1)}…`;
}
