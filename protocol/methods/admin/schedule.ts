import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

const AtMs = z.int().min(0);

/** A scheduled job as administrators see it. `every`: a job that `cron.add` made with an interval. */
const Schedule = z
  .strictObject({
    taskId: NonEmpty,
    name: z.string(),
    description: z.string(),
    scheduleType: z.enum(['cron', 'at', 'every']),
    /** Five or six fields; empty for other types. */
    cronExpr: z.string(),
    /** The zone of the expression; empty for other types. */
    timezone: z.string(),
    /** Null for other types. */
    atMs: AtMs.nullable(),
    /** Every target is this machine. */
    targetMode: z.string(),
    initialMessage: z.string(),
    autoApproveTools: z.array(z.string()),
    enabled: z.boolean(),
    /** Empty for a job that `cron.add` made. */
    createdBy: z.string(),
    lastRunAtMs: AtMs.nullable(),
    nextRunAtMs: AtMs.nullable(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof Schedule>;

/** One time of a schedule. `dispatched`: a run began, and `outcome` says how it ended; the others never began. */
const ScheduleRun = z
  .strictObject({
    runId: NonEmpty,
    taskId: NonEmpty,
    nodeId: z.string(),
    /** Empty if no run began, or its workstream is gone. */
    wsId: z.string(),
    /** The run of the agent; empty if none began. */
    correlationId: z.string(),
    startedAtMs: AtMs,
    status: z.enum(['dispatched', 'skipped', 'missed', 'pending']),
    outcome: z.enum(['ok', 'error', 'skipped', 'missed', 'interrupted', 'running']),
    error: z.string(),
  })
  .meta({ id: 'ScheduleRun' });

/** The handler says what is wrong, with the words of HTTP; `model`, `skill` and `autoApprove` are refused unless empty. */
const text = z.string().max(4_096).optional();
const Fields = {
  name: text,
  description: text,
  scheduleType: text,
  cronExpr: text,
  timezone: text,
  /** ISO 8601 with a time zone. */
  atTime: text,
  targetMode: text,
  initialMessage: z.string().max(262_144).optional(),
  autoApproveTools: z.array(NonEmpty.max(64)).max(64).optional(),
  autoApprove: z.boolean().optional(),
  model: text,
  skill: text,
  enabled: z.boolean().optional(),
};
const TaskId = NonEmpty.max(64);
const rights = { scope: 'approve', permission: 'admin.schedules' } as const;

/** Scheduled jobs for administrators, as the HTTP interface names them. */
export const scheduleContracts = {
  'schedule.list': contract({
    summary: 'All schedules, the newest first.',
    ...rights,
    params: () => z.strictObject({}).meta({ id: 'ScheduleListParams' }),
    result: () => z.strictObject({ schedules: z.array(Schedule) }).meta({ id: 'ScheduleListResult' }),
  }),
  'schedule.create': contract({
    summary: 'Add a schedule.',
    ...rights,
    audit: { action: 'cron.add', id: 'taskId', by: 'handler' },
    stepUp: ({ autoApproveTools = [] }) => autoApproveTools.length > 0,
    serial: () => 'schedules',
    params: () => z.strictObject(Fields).meta({ id: 'ScheduleCreateParams' }),
    result: () => Schedule,
  }),
  'schedule.get': contract({
    summary: 'One schedule.',
    ...rights,
    params: () => z.strictObject({ taskId: TaskId }).meta({ id: 'ScheduleGetParams' }),
    result: () => Schedule,
  }),
  'schedule.update': contract({
    summary: 'Change a schedule; a refused change leaves it unchanged.',
    ...rights,
    audit: { action: 'cron.update', id: 'taskId', by: 'handler' },
    params: () => z.strictObject({ taskId: TaskId, ...Fields }).meta({ id: 'ScheduleUpdateParams' }),
    serial: ({ taskId }) => `cron ${taskId}`,
    result: () => Schedule,
  }),
  'schedule.delete': contract({
    summary: 'Delete a schedule; a run in progress continues to its end.',
    ...rights,
    audit: { action: 'cron.remove', id: 'taskId', by: 'handler' },
    params: () => z.strictObject({ taskId: TaskId }).meta({ id: 'ScheduleDeleteParams' }),
    serial: ({ taskId }) => `cron ${taskId}`,
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'ScheduleDeleteResult' }),
  }),
  'schedule.runs': contract({
    summary: 'The latest times of a schedule and what came of them, newest first.',
    ...rights,
    params: () =>
      z
        .strictObject({
          taskId: TaskId,
          /** Default: 50. */
          limit: z.int().min(1).max(200).optional(),
        })
        .meta({ id: 'ScheduleRunsParams' }),
    result: () => z.strictObject({ runs: z.array(ScheduleRun) }).meta({ id: 'ScheduleRunsResult' }),
  }),
};
