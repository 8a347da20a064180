import { z } from 'zod';
import { contract } from '../contract.ts';
import {
  CronApproval,
  CronCalendarRun,
  CronExtendedJob,
  CronIsolation,
  CronJob,
  CronMisfire,
  CronOccurrence,
  CronPayload,
  CronRun,
  CronSchedule,
  CronSwitch,
  DAY_MS,
  Instant,
  SessionTarget,
  WakeMode,
} from '../cron.ts';
import { NonEmpty, optionalKey, optionalText } from '../frames.ts';
import { PlainName } from '../text/plain-text.ts';
import type { Permission } from './accounts/permissions.ts';

const Count = z.int().min(0);
const JobId = NonEmpty.max(64);
/** With `extended`, jobs have fields beyond the specification. */
const AnyJob = z.union([CronJob, CronExtendedJob]).meta({ id: 'CronAnyJob' });

const SCHEDULING = ['approve', 'admin.schedules'] as const satisfies readonly Permission[];

/** Whether the runs of a job may call tools without asking. */
const allowsCalls = ({ approval }: { approval?: CronApproval | undefined }) => approval?.mode === 'allow';

const changeable = {
  name: PlainName.max(200).optional(),
  enabled: z.boolean().optional(),
  isolation: CronIsolation.optional(),
  /** False: results of runs in the job's separate session are not posted to the main session. */
  tellMain: z.boolean().optional(),
  misfire: CronMisfire.optional(),
  /** Only `at` jobs: delete the job after its first success. */
  deleteAfterRun: z.boolean().optional(),
  /** A run that takes longer is stopped. Default: 1 h. */
  maxRunMs: z
    .int()
    .min(1_000)
    .max(7 * DAY_MS)
    .optional(),
  approval: CronApproval.optional(),
};
const Extended = { extended: z.boolean().optional() };

const CronLocalInstant = z
  .strictObject({
    atMs: Count,
    /** `2026-12-24T18:00:00`, in local time. */
    local: z.string(),
    /** `+01:00`. */
    offset: z.string(),
  })
  .meta({ id: 'CronLocalInstant' });

/** Scheduled jobs and the history of their occurrences. */
export const cronContracts = {
  'cron.list': contract({
    summary: 'The jobs, the next due first; disabled ones only with `includeDisabled`.',
    scope: 'read',
    params: () =>
      z.strictObject({ includeDisabled: z.boolean().optional(), ...Extended }).meta({ id: 'CronListParams' }),
    result: () => z.strictObject({ jobs: z.array(AnyJob) }).meta({ id: 'CronListResult' }),
  }),
  'cron.status': contract({
    summary: 'Whether schedules run, and when the next job is due.',
    scope: 'read',
    params: () => z.strictObject({ ...Extended }).meta({ id: 'CronStatusParams' }),
    result: () =>
      z
        .strictObject({
          enabled: z.boolean(),
          storePath: z.string(),
          jobs: Count,
          nextWakeAtMs: Count.nullable(),
          /** With `extended`: all switches that keep schedules from running. */
          switchedOffBy: z.array(CronSwitch).optional(),
        })
        .meta({ id: 'CronStatusResult' }),
  }),
  'cron.add': contract({
    summary: 'Create a job.',
    scope: 'approve',
    permission: SCHEDULING,
    audit: { action: 'cron.add', id: 'id', by: 'handler' },
    stepUp: allowsCalls,
    idempotency: 'optional',
    params: () =>
      z
        .strictObject({
          schedule: CronSchedule,
          sessionTarget: SessionTarget,
          wakeMode: WakeMode,
          payload: CronPayload,
          /** The machine that runs it. Default: the one with the fewest jobs; jobs in the main session: the active one. */
          nodeId: optionalText(255),
          ...changeable,
          ...Extended,
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'CronAddParams' }),
    result: () => AnyJob,
  }),
  'cron.update': contract({
    summary: 'Change a job; a refused change leaves it unchanged.',
    scope: 'approve',
    permission: SCHEDULING,
    audit: { action: 'cron.update', id: 'id', by: 'handler' },
    stepUp: ({ patch }) => allowsCalls(patch),
    params: () =>
      z
        .strictObject({
          id: JobId,
          patch: z
            .strictObject({
              schedule: CronSchedule.optional(),
              sessionTarget: SessionTarget.optional(),
              wakeMode: WakeMode.optional(),
              payload: CronPayload.optional(),
              ...changeable,
            })
            .meta({ id: 'CronPatch' }),
          /** If the job has another revision, the answer is CONFLICT. */
          revision: Count.optional(),
          ...Extended,
        })
        .meta({ id: 'CronUpdateParams' }),
    serial: ({ id }) => `cron ${id}`,
    result: () => AnyJob,
  }),
  'cron.remove': contract({
    summary: 'Delete a job; a run in progress continues to its end.',
    scope: 'approve',
    permission: SCHEDULING,
    audit: { action: 'cron.remove', id: 'id', by: 'handler' },
    params: () => z.strictObject({ id: JobId }).meta({ id: 'CronRemoveParams' }),
    serial: ({ id }) => `cron ${id}`,
    result: () => z.strictObject({ ok: z.literal(true), removed: z.boolean() }).meta({ id: 'CronRemoveResult' }),
  }),
  'cron.run': contract({
    summary:
      'Run a job now: if it is due, or in any case (`force`). Answers when the run has ended, unless `wait` is false.',
    scope: 'approve',
    permission: SCHEDULING,
    audit: { action: 'cron.run', id: 'id', by: 'handler' },
    idempotency: 'optional',
    params: () =>
      z
        .strictObject({
          id: JobId,
          mode: z.enum(['due', 'force']).optional(),
          wait: z.boolean().optional(),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'CronRunParams' }),
    result: () =>
      z
        .union([
          z.strictObject({ ok: z.literal(true), ran: z.literal(true) }),
          z.strictObject({
            ok: z.literal(true),
            ran: z.literal(false),
            reason: z.enum(['not-due', 'already-running']),
          }),
        ])
        .meta({ id: 'CronRunResult' }),
  }),
  'cron.runs': contract({
    summary: 'The latest finished runs of a job, oldest first.',
    scope: 'read',
    params: () =>
      z
        .strictObject({ id: JobId, limit: z.int().min(1).max(5_000).optional(), ...Extended })
        .meta({ id: 'CronRunsParams' }),
    result: () =>
      z.strictObject({ entries: z.array(z.union([CronRun, CronOccurrence])) }).meta({ id: 'CronRunsResult' }),
  }),
  'cron.preview': contract({
    summary: 'The next times of a schedule, given as an object or in words (`every 15m`, `0 9 * * 1-5 Europe/Berlin`).',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          schedule: z.union([CronSchedule, NonEmpty.max(400)]),
          /** Default: 10. */
          count: z.int().min(1).max(50).optional(),
          fromMs: Instant.optional(),
          /** The time zone for words that name none. Default: the daemon's. */
          tz: optionalText(64),
        })
        .meta({ id: 'CronPreviewParams' }),
    result: () =>
      z
        .strictObject({
          schedule: CronSchedule,
          /** The schedule in words. */
          description: z.string(),
          /** The time zone of the local times, an IANA name. */
          tz: z.string(),
          runs: z.array(CronLocalInstant),
        })
        .meta({ id: 'CronPreviewResult' }),
  }),
  'cron.calendar': contract({
    summary: 'The recorded and the planned runs of all jobs in at most 62 days, by time.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          fromMs: Instant,
          untilMs: Instant,
          /** The time zone of the days, the first of which begins at `fromMs`. Default: the daemon's. */
          tz: optionalText(64),
        })
        .refine(({ fromMs, untilMs }) => untilMs > fromMs && untilMs - fromMs <= 62 * DAY_MS, {
          path: ['untilMs'],
          error: 'must be after fromMs, by at most 62 days',
        })
        .meta({ id: 'CronCalendarParams' }),
    result: () =>
      z
        .strictObject({
          /** The time zone of the daemon, an IANA name. */
          tz: z.string(),
          /** At most 1,000 recorded and 1,000 planned runs. */
          runs: z.array(CronCalendarRun),
          /** Earlier recorded runs, or later planned ones, are left out. */
          truncated: z.literal(true).optional(),
        })
        .meta({ id: 'CronCalendarResult' }),
  }),
  'cron.explain': contract({
    summary: 'Why a job did or did not run at a time; without `atMs`, what it waits for now.',
    scope: 'read',
    params: () => z.strictObject({ id: JobId, atMs: Instant.optional() }).meta({ id: 'CronExplainParams' }),
    result: () =>
      z
        .strictObject({
          jobId: NonEmpty,
          atMs: Count,
          verdict: z.enum([
            ...(['ok', 'error', 'skipped', 'missed', 'interrupted'] as const),
            ...(['running', 'retrying', 'due', 'scheduled', 'not-scheduled', 'disabled', 'unknown'] as const),
          ]),
          /** A sentence for people. */
          because: z.string(),
          occurrence: CronOccurrence.optional(),
          previousAtMs: Count.optional(),
          nextAtMs: Count.optional(),
        })
        .meta({ id: 'CronExplainResult' }),
  }),
};
