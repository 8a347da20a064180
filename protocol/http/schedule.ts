import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { isWhole, Limit, NOT_WHOLE } from './memory.ts';

const Schedule = z.object({
  task_id: z.string(),
  name: z.string(),
  description: z.string(),
  schedule_type: z.string(),
  cron_expr: z.string(),
  timezone: z.string(),
  at_time: z.string(),
  target_mode: z.string(),
  model: z.string(),
  initial_message: z.string(),
  auto_approve: z.boolean(),
  auto_approve_tools: z.array(z.string()),
  skill: z.string(),
  enabled: z.boolean(),
  created_by: z.string(),
  last_run: z.string(),
  next_run: z.string(),
  created: z.string(),
  updated: z.string(),
});

const ScheduleRun = z.object({
  run_id: z.string(),
  task_id: z.string(),
  node_id: z.string(),
  ws_id: z.string(),
  correlation_id: z.string(),
  started: z.string(),
  status: z.string(),
  outcome: z.string(),
  error: z.string(),
});

const text = z.string().nullish();
const flag = z.boolean().nullish();
const fields = {
  name: text,
  description: text,
  schedule_type: text,
  cron_expr: text,
  timezone: text,
  at_time: text,
  target_mode: text,
  initial_message: text,
  /** A list, or a text with commas. */
  auto_approve_tools: z.union([z.string(), z.array(z.string())]).nullish(),
  auto_approve: flag,
  model: text,
  skill: text,
  enabled: flag,
};

const ById = z.object({ task_id: z.string() });
const MISSING = { 404: 'Schedule not found' } as const;
const INVALID = { 400: 'x is required, Invalid cron expression: x, or at_time must be in the future' } as const;

/** Scheduled jobs for administrators (HTTP.md, "Schedules"). */
export const scheduleEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/schedules',
    summary: 'All schedules, the newest first.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ schedules: z.array(Schedule) }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/schedules',
    summary: 'Add a schedule.',
    scope: 'approve',
    request: () => z.object(fields),
    reply: () => Schedule,
    errors: { ...INVALID, 409: 'Maximum of 200 schedules reached' },
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/schedules/{task_id}',
    summary: 'One schedule.',
    scope: 'approve',
    request: () => ById,
    reply: () => Schedule,
    errors: MISSING,
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/schedules/{task_id}',
    summary: 'Change a schedule; fields that are missing keep their values.',
    scope: 'approve',
    request: () => ById.extend(fields),
    reply: () => Schedule,
    errors: { ...INVALID, ...MISSING },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/schedules/{task_id}',
    summary: 'Delete a schedule; a run in progress continues to its end.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: MISSING,
  }),
  runs: endpoint({
    verb: 'get',
    path: '/v1/api/admin/schedules/{task_id}/runs',
    summary: 'The latest times of a schedule and what came of them, newest first.',
    scope: 'approve',
    request: () => ById.extend({ limit: Limit }).refine(isWhole, NOT_WHOLE),
    reply: () => z.object({ runs: z.array(ScheduleRun) }),
    errors: { 400: NOT_WHOLE, ...MISSING },
  }),
};
