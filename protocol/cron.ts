import { z } from 'zod';
import { NonEmpty, optionalText } from './frames.ts';
import { LIMITS } from './limits.ts';

const Count = z.int().min(0);
/** Milliseconds since the epoch, within what a Date can hold. */
export const Instant = z.int().min(0).max(8_640_000_000_000_000);
/** 24 hours, whatever a zone’s clock does meanwhile. */
export const DAY_MS = 86_400_000;

/** When a job is due. `every` counts from anchorMs, or from when the job was made. `cron` has 5 or 6 fields. */
export const CronSchedule = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('at'), atMs: Instant }),
    z.strictObject({ kind: z.literal('every'), everyMs: Instant.min(1), anchorMs: Instant.optional() }),
    z.strictObject({ kind: z.literal('cron'), expr: NonEmpty.max(256), tz: optionalText(64) }),
  ])
  .meta({ id: 'CronSchedule' });
export type CronSchedule = z.infer<typeof CronSchedule>;

/** What it does: `systemEvent` tells the main session something, `agentTurn` asks the agent in a session of the job's own. */
export const CronPayload = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('systemEvent'), text: NonEmpty.max(LIMITS.systemEventChars) }),
    z.strictObject({
      kind: z.literal('agentTurn'),
      message: NonEmpty.max(262_144),
      thinking: optionalText(),
      /** 600 where it is left out. */
      timeoutSeconds: z.int().min(1).max(86_400).optional(),
      deliver: z.boolean().optional(),
      /** `last`, or the name of a channel. */
      channel: optionalText(),
      to: optionalText(),
      /** An answer that cannot be delivered is no error. */
      bestEffortDeliver: z.boolean().optional(),
    }),
  ])
  .meta({ id: 'CronPayload' });
export type CronPayload = z.infer<typeof CronPayload>;

/**
 * What becomes of instants that passed while the job could not run: the latest is run at once (`once`), none (`skip`),
 * the latest ten (`all`) or as many as are named (`{ all }`), or the latest if it is at most so many milliseconds old
 * (`within`).
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

/** What becomes of a call that needs approval in a run of the job: refused, left to a person until a deadline, or allowed by name. */
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

/** How the main session is told of an isolated job’s end: the text that stands before the answer. */
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

/** Where a job acts: in the main session, or in a session of its own. */
export const SessionTarget = z.enum(['main', 'isolated']);
/** When the main session reads what a job told it: with its next turn, or at once in a turn of its own. */
export const WakeMode = z.enum(['next-heartbeat', 'now']);

/** A job as the specification has it. */
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

/** How an occurrence ended. `missed`: never begun, and why is said; `interrupted`: cancelled, or its run was lost. */
const CronStatus = z.enum(['ok', 'error', 'skipped', 'missed', 'interrupted']);
export type CronStatus = z.infer<typeof CronStatus>;

/** A job with what goes beyond the specification; only who asks with `extended` gets it. */
export const CronExtendedJob = CronJob.extend({
  /** Rises with every change by hand; `cron.update` can be asked to change this one only. */
  revision: Count,
  misfire: CronMisfire,
  deleteAfterRun: z.boolean(),
  maxRunMs: Count,
  approval: CronApproval,
  /** Present where the main session is not told of ends. */
  tellMain: z.literal(false).optional(),
  state: CronState.extend({
    lastStatus: CronStatus.optional(),
    /** The instant that the last run was for. */
    lastScheduledAtMs: Count.optional(),
    consecutiveErrors: Count.optional(),
    /** An event `alert` has said so: it failed three times in a row, or more. */
    alert: z.boolean().optional(),
    /** After repeated errors: instants before this one are skipped. */
    backoffUntilMs: Count.optional(),
  }),
}).meta({ id: 'CronExtendedJob' });
export type CronExtendedJob = z.infer<typeof CronExtendedJob>;

/** What keeps schedules from running: the setting of config.json, the variable of the daemon's environment. */
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

/** One occurrence: an instant at which a job was due, or a run that somebody forced. */
export const CronOccurrence = CronRun.extend({
  /** Absent while it is not over. */
  ts: Count.optional(),
  /** Absent while it is not over, or waits to be tried again. */
  status: CronStatus.optional(),
  scheduledAtMs: Count,
  /** More than one instant, none of which ran: the last of them, and how many where they were counted. */
  throughMs: Count.optional(),
  count: Count.optional(),
  trigger: z.enum(['schedule', 'forced']),
  /** Starts. */
  attempts: Count,
  /** When it is tried again. */
  retryAtMs: Count.optional(),
  runId: z.string().optional(),
  sessionKey: z.string().optional(),
}).meta({ id: 'CronOccurrence' });
export type CronOccurrence = z.infer<typeof CronOccurrence>;

/** Something happened to a job. `alert`: it failed three times in a row, or more. */
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
