import type { z } from 'zod';
import { scheduleEndpoints } from '../../../protocol/http/schedule.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind } from '../bind.ts';
import { iso, isoOrEmpty } from '../iso.ts';
import { limitOf } from './memory.ts';

const MOST_RUNS = 200;

const toSchedule = (schedule: Result<'schedule.get'>) => ({
  task_id: schedule.taskId,
  name: schedule.name,
  description: schedule.description,
  schedule_type: schedule.scheduleType,
  cron_expr: schedule.cronExpr,
  timezone: schedule.timezone,
  at_time: isoOrEmpty(schedule.atMs ?? undefined),
  target_mode: schedule.targetMode,
  model: '',
  initial_message: schedule.initialMessage,
  auto_approve: false,
  auto_approve_tools: schedule.autoApproveTools,
  skill: '',
  enabled: schedule.enabled,
  created_by: schedule.createdBy,
  last_run: isoOrEmpty(schedule.lastRunAtMs ?? undefined),
  next_run: isoOrEmpty(schedule.nextRunAtMs ?? undefined),
  created: iso(schedule.createdAtMs),
  updated: iso(schedule.updatedAtMs),
});

/** Null is the same as a field that is missing. */
const known = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const toFields = (request: z.output<ReturnType<typeof scheduleEndpoints.create.request>>) => ({
  name: known(request.name),
  description: known(request.description),
  scheduleType: known(request.schedule_type),
  cronExpr: known(request.cron_expr),
  timezone: known(request.timezone),
  atTime: known(request.at_time),
  targetMode: known(request.target_mode),
  initialMessage: known(request.initial_message),
  autoApproveTools: toList(known(request.auto_approve_tools)),
  autoApprove: known(request.auto_approve),
  model: known(request.model),
  skill: known(request.skill),
  enabled: known(request.enabled),
});

const toList = (tools: string | string[] | undefined): string[] | undefined =>
  typeof tools === 'string' ? tools.split(',').flatMap((tool) => tool.trim() || []) : tools;

export const scheduleRoutes = [
  bind(scheduleEndpoints.list, 'schedule.list', {
    params: () => ({}),
    reply: ({ schedules }) => ({ schedules: schedules.map(toSchedule) }),
  }),
  bind(scheduleEndpoints.create, 'schedule.create', { params: toFields, reply: toSchedule }),
  bind(scheduleEndpoints.get, 'schedule.get', {
    params: ({ task_id }) => ({ taskId: task_id }),
    reply: toSchedule,
  }),
  bind(scheduleEndpoints.update, 'schedule.update', {
    params: ({ task_id, ...fields }) => ({ taskId: task_id, ...toFields(fields) }),
    reply: toSchedule,
  }),
  bind(scheduleEndpoints.remove, 'schedule.delete', {
    params: ({ task_id }) => ({ taskId: task_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(scheduleEndpoints.runs, 'schedule.runs', {
    params: ({ task_id, limit }) => ({ taskId: task_id, limit: limitOf(limit, MOST_RUNS) }),
    reply: ({ runs }) => ({
      runs: runs.map((run) => ({
        run_id: run.runId,
        task_id: run.taskId,
        node_id: run.nodeId,
        ws_id: run.wsId,
        correlation_id: run.correlationId,
        started: iso(run.startedAtMs),
        status: run.status,
        outcome: run.outcome,
        error: run.error,
      })),
    }),
  }),
];
