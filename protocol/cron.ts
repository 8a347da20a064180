import { z } from 'zod';
import { NonEmpty, optionalText } from './frames.ts';
import { LIMITS } from './limits.ts';
import { Notice } from './notice.ts';

const Count = z.int().min(0);
/** Milliseconds since the Unix epoch, up to the maximum of a Date. */
export const Instant = z.int().min(0).max(8_640_000_000_000_000);
/** A time or a period of a schedule: jobs are planned up to the year 3000. */
const ScheduleMs = z.int().min(0).max(32_503_679_999_999);
/** 24 hours, regardless of clock changes. */
export const DAY_MS = 86_400_000;

/** When a job is due. `every` counts from anchorMs, or from the creation of the job. `cron` has 5 or 6 fields. */
export const CronSchedule = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('at'), atMs: ScheduleMs }),
    z.strictObject({ kind: z.literal('every'), everyMs: ScheduleMs.min(1), anchorMs: ScheduleMs.optional() }),
    z.strictObject({ kind: z.literal('cron'), expr: NonEmpty.max(256), tz: optionalText(64) }),
  ])
  .meta({ id: 'CronSchedule' });
export type CronSchedule = z.infer<typeof CronSchedule>;

/** What a job does: `systemEvent` gives the main session a text, `agentTurn` runs a task in the job's separate session. */
export const CronPayload = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('systemEvent'), text: NonEmpty.max(LIMITS.systemEventChars) }),
    z.strictObject({
      kind: z.literal('agentTurn'),
      message: NonEmpty.max(262_144),
      thinking: optionalText(),
      /** Default: 600. */
      timeoutSeconds: z.int().min(1).max(86_400).optional(),
      deliver: z.boolean().optional(),
      /** `last`, or the name of a channel. */
      channel: optionalText(),
      to: optionalText(),
      /** True: an answer that cannot be delivered is not an error. */
      bestEffortDeliver: z.boolean().optional(),
    }),
  ])
  .meta({ id: 'CronPayload' });
export type CronPayload = z.infer<typeof CronPayload>;

/**
 * What happens to times that passed while the job could not run. `once` runs the latest at once, `skip` none, `all` the
 * latest ten, `{ all }` the latest of the given number, and `within` the latest if it is at most so many milliseconds old.
 */
export const CronMisfire = z
  .union(
    [
      z.enum(['once', 'skip', 'all']),
      z.strictObject({ all: z.int().min(1).max(100) }),
      z.strictObject({
        within: z
          .int()
          .min(1)
          .max(366 * DAY_MS),
      }),
    ],
    { error: 'must be "once", "skip", "all", {"all": 1 to 100} or {"within": milliseconds}' },
  )
  .meta({ id: 'CronMisfire' });
export type CronMisfire = z.infer<typeof CronMisfire>;

/** What happens to calls that need approval in a run of the job: denied, left to a person until a timeout, or allowed by tool. */
export const CronApproval = z
  .discriminatedUnion('mode', [
    z.strictObject({ mode: z.literal('deny') }),
    z.strictObject({
      mode: z.literal('wait'),
      timeoutMs: z
        .int()
        .min(1_000)
        .max(7 * DAY_MS)
        .optional(),
    }),
    z.strictObject({ mode: z.literal('allow'), tools: z.array(NonEmpty.max(64)).min(1).max(64) }),
  ])
  .meta({ id: 'CronApproval' });
export type CronApproval = z.infer<typeof CronApproval>;

/** The result of an isolated job in the main session: the text before the answer. */
export const CronIsolation = z.strictObject({ postToMainPrefix: optionalText(200) }).meta({ id: 'CronIsolation' });

const CronState = z
  .strictObject({
    nextRunAtMs: Count.optional(),
    runningAtMs: Count.optional(),
    lastRunAtMs: Count.optional(),
    lastStatus: z.enum(['ok', 'error', 'skipped']).optional(),
    lastError: z.string().optional(),
    lastDurationMs: Count.optional(),
  })
  .meta({ id: 'CronState' });

/** Where a job runs: in the main session, or in a separate one. */
export const SessionTarget = z.enum(['main', 'isolated']);
/** When the main session reads the text of a job: with its next turn, or at once in a separate turn. */
export const WakeMode = z.enum(['next-heartbeat', 'now']);

/** A job with the fields of the specification. */
export const CronJob = z
  .strictObject({
    id: NonEmpty,
    name: z.string().optional(),
    enabled: z.boolean(),
    createdAtMs: Count,
    updatedAtMs: Count,
    schedule: CronSchedule,
    sessionTarget: SessionTarget,
    wakeMode: WakeMode,
    payload: CronPayload,
    isolation: CronIsolation.optional(),
    state: CronState,
  })
  .meta({ id: 'CronJob' });
export type CronJob = z.infer<typeof CronJob>;

/** How an occurrence ended. `missed`: it never started, and `error` says why; `interrupted`: cancelled, or its run was lost. */
const CronStatus = z.enum(['ok', 'error', 'skipped', 'missed', 'interrupted']);
export type CronStatus = z.infer<typeof CronStatus>;

/** A job with fields beyond the specification, for callers that pass `extended`. */
export const CronExtendedJob = CronJob.extend({
  /** The worker that runs it; absent: the active machine. */
  nodeId: NonEmpty.optional(),
  /** Increases with every change by a person; `cron.update` can require a revision. */
  revision: Count,
  misfire: CronMisfire,
  deleteAfterRun: z.boolean(),
  maxRunMs: Count,
  approval: CronApproval,
  /** Present if results are not posted to the main session. */
  tellMain: z.literal(false).optional(),
  /** What a person should know about its deliveries and its machine. Absent if there is nothing. */
  notices: z.array(Notice).optional(),
  state: CronState.extend({
    lastStatus: CronStatus.optional(),
    /** The scheduled time of the last run. */
    lastScheduledAtMs: Count.optional(),
    consecutiveErrors: Count.optional(),
    /** The job failed at least three times in a row, and an event `alert` was sent. */
    alert: z.boolean().optional(),
    /** After repeated errors, times before this one are skipped. */
    backoffUntilMs: Count.optional(),
  }),
}).meta({ id: 'CronExtendedJob' });
export type CronExtendedJob = z.infer<typeof CronExtendedJob>;

/** The switches that keep schedules from running: a setting of config.json, and a variable of the daemon's environment. */
export const CronSwitch = z.enum(['cron.enabled', 'HEADGATE_SKIP_CRON']).meta({ id: 'CronSwitch' });
export type CronSwitch = z.infer<typeof CronSwitch>;

/** One line of a job's history. */
export const CronRun = z
  .strictObject({
    /** When it ended. */
    ts: Count,
    jobId: NonEmpty,
    action: z.literal('finished'),
    status: z.enum(['ok', 'error', 'skipped']),
    error: z.string().optional(),
    summary: z.string().optional(),
    runAtMs: Count.optional(),
    durationMs: Count.optional(),
    nextRunAtMs: Count.optional(),
  })
  .meta({ id: 'CronRun' });
export type CronRun = z.infer<typeof CronRun>;

/** One occurrence: a scheduled time of a job, or a forced run. */
export const CronOccurrence = CronRun.extend({
  /** Absent until it has ended. */
  ts: Count.optional(),
  /** Absent until it has ended, and while it waits for a retry. */
  status: CronStatus.optional(),
  scheduledAtMs: Count,
  /** For several times of which none ran: the last one, and how many if they were counted. */
  throughMs: Count.optional(),
  count: Count.optional(),
  trigger: z.enum(['schedule', 'forced']),
  /** How often it was started. */
  attempts: Count,
  /** The time of the next attempt. */
  retryAtMs: Count.optional(),
  runId: z.string().optional(),
  sessionKey: z.string().optional(),
}).meta({ id: 'CronOccurrence' });
export type CronOccurrence = z.infer<typeof CronOccurrence>;

/** A run of a calendar: one that is planned, one in progress, or a recorded one. */
export const CronCalendarRun = z
  .strictObject({
    jobId: NonEmpty,
    /** The id, if the job has no name or was removed. */
    name: z.string(),
    atMs: Count,
    state: z.enum(['planned', 'running', ...CronStatus.options]),
    /** Of planned runs: the job has more of them on this day, which are left out. */
    more: z.literal(true).optional(),
    /** How many times the record stands for. */
    count: Count.optional(),
    durationMs: Count.optional(),
    error: z.string().optional(),
    /** It was started by hand. */
    forced: z.literal(true).optional(),
  })
  .meta({ id: 'CronCalendarRun' });
export type CronCalendarRun = z.infer<typeof CronCalendarRun>;

/** Something happened to a job. `alert`: it failed at least three times in a row. */
export const CronEvent = z
  .strictObject({
    jobId: NonEmpty,
    action: z.enum(['added', 'updated', 'removed', 'started', 'finished', 'missed', 'alert']),
    runAtMs: Count.optional(),
    durationMs: Count.optional(),
    status: z.enum(['ok', 'error', 'skipped']).optional(),
    error: z.string().optional(),
    summary: z.string().optional(),
    nextRunAtMs: Count.optional(),
  })
  .meta({ id: 'CronEvent' });
export type CronEvent = z.infer<typeof CronEvent>;
