import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { CronApproval, CronPayload, CronSchedule } from '../../../protocol/cron.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Params, Result } from '../../../protocol/index.ts';
import type { Job, JobLabel } from '../../cron/jobs/job.ts';
import type { ListedJob } from '../cron/listed-job.ts';
import type { Placement } from '../workers/team.ts';

/** What administrators write about a schedule. */
export type ScheduleForm = Params<'schedule.create'>;

/** Whom a form comes from, and when and where. */
export interface FormContext {
  nowMs: number;
  /** This machine. */
  nodeId: string;
  placement: Pick<Placement, 'has'>;
}

type Patch = Params<'cron.update'>['patch'];

/** The job that a form describes. Throws INVALID_REQUEST naming the field as HTTP does. */
export function jobOf(form: ScheduleForm, { nowMs, nodeId, placement }: FormContext) {
  refuseUnsupported(form);
  const name = filled(form.name, 'name').trim();
  const schedule = scheduleOf(form, { nowMs });
  const targetMode = filled(form.targetMode, 'target_mode');
  if (!isTarget(targetMode, nodeId) && !placement.has(targetMode))
    throw invalid('target_mode must be auto, pool, all or the id of a machine that has joined');
  const asked: Params<'cron.add'> = {
    name,
    schedule,
    payload: { kind: 'agentTurn', message: filled(form.initialMessage, 'initial_message') },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    approval: approvalOf(form.autoApproveTools ?? []),
    enabled: form.enabled ?? true,
  };
  return { asked, label: { description: form.description ?? '', targetMode } };
}

/** What a form changes in a job: what it repeats is no change. */
export function changeOf(form: ScheduleForm, job: Job, { nowMs, nodeId }: Omit<FormContext, 'placement'>): Change {
  refuseUnsupported(form);
  const schedule = scheduleOf(form, { nowMs, before: job.schedule });
  const { name, description, targetMode, initialMessage, autoApproveTools, enabled } = form;
  const patch: Patch = {
    ...(name !== undefined && { name: filled(name, 'name').trim() }),
    ...(!isDeepStrictEqual(schedule, job.schedule) && { schedule }),
    ...(initialMessage !== undefined && { payload: withText(job.payload, filled(initialMessage, 'initial_message')) }),
    ...(autoApproveTools && { approval: changedApproval(autoApproveTools, job.approval) }),
    ...(enabled !== undefined && enabled !== job.enabled && { enabled }),
  };
  const label: JobLabel = {
    ...labelOf(job),
    ...(description !== undefined && { description }),
    ...(targetMode !== undefined && { targetMode: checkTarget(filled(targetMode, 'target_mode'), nodeId) }),
  };
  return { patch, label };
}

interface Change {
  patch: Patch;
  label: JobLabel;
}

/** A job as administrators see it. */
export const toSchedule = ({ job, nextRunMs }: ListedJob): Result<'schedule.get'> => ({
  taskId: job.id,
  name: job.name,
  scheduleType: job.schedule.kind,
  cronExpr: job.schedule.kind === 'cron' ? job.schedule.expr : '',
  timezone: job.schedule.kind === 'cron' ? (job.schedule.tz ?? '') : '',
  atMs: job.schedule.kind === 'at' ? job.schedule.atMs : null,
  ...labelOf(job),
  initialMessage: job.payload.kind === 'systemEvent' ? job.payload.text : job.payload.message,
  autoApproveTools: toolsOf(job.approval),
  enabled: job.enabled,
  lastRunAtMs: job.last?.startedMs ?? null,
  nextRunAtMs: nextRunMs ?? null,
  createdAtMs: job.createdMs,
  updatedAtMs: job.updatedMs,
});

const labelOf = ({ label }: Job): JobLabel => label ?? { description: '', targetMode: 'auto', createdBy: '' };

/** A run of a job has the default model and asks for every tool that is not named. */
function refuseUnsupported({ model, skill, autoApprove }: ScheduleForm): void {
  if (model) throw invalid('model is not supported: a schedule runs with the default model');
  if (skill) throw invalid('skill is not supported: write the instructions into initial_message');
  if (autoApprove) throw invalid('auto_approve is not supported: name the tools in auto_approve_tools');
}

interface ScheduleContext {
  nowMs: number;
  before?: CronSchedule;
}

function scheduleOf(form: ScheduleForm, context: ScheduleContext): CronSchedule {
  const { before } = context;
  const kind = form.scheduleType || before?.kind;
  if (!kind) throw invalid('schedule_type is required');
  if (!['cron', 'at', before?.kind].includes(kind)) throw invalid("schedule_type must be 'cron' or 'at'");
  if (kind !== 'cron') refuseOther(kind, { cron_expr: form.cronExpr, timezone: form.timezone });
  if (kind !== 'at') refuseOther(kind, { at_time: form.atTime });
  if (kind === 'cron') return cronOf(form, before);
  if (kind === 'at') return atOf(form, context);
  if (before?.kind !== 'every') throw invalid("schedule_type must be 'cron' or 'at'");
  return before;
}

function refuseOther(kind: string, fields: Record<string, string | undefined>): void {
  const [extra] = Object.entries(fields).find(([, value]) => value) ?? [];
  if (extra !== undefined) throw invalid(`${extra} has no meaning for schedule_type '${kind.slice(0, 40)}'`);
}

/** The times of HTTP are in UTC unless a zone is named. */
function cronOf({ cronExpr, timezone }: ScheduleForm, before: CronSchedule | undefined): CronSchedule {
  const known = before?.kind === 'cron' ? before : undefined;
  const expr = cronExpr?.trim() || known?.expr;
  if (!expr) throw invalid("cron_expr is required for schedule_type 'cron'");
  if (expr !== known?.expr && expr.split(/\s+/).length !== 5)
    throw invalid('Invalid cron expression: it must have five fields (minute hour day month weekday)');
  return { kind: 'cron', expr, tz: timezone || known?.tz || 'UTC' };
}

const WithZone = z.iso.datetime({ offset: true });

function atOf({ atTime }: ScheduleForm, { nowMs, before }: ScheduleContext): CronSchedule {
  const known = before?.kind === 'at' ? before : undefined;
  if (!atTime && known) return known;
  if (!atTime) throw invalid("at_time is required for schedule_type 'at'");
  if (!WithZone.safeParse(atTime).success)
    throw invalid('at_time must be an ISO 8601 time with a timezone, such as 2031-01-31T12:00:00Z');
  const atMs = Date.parse(atTime);
  if (known?.atMs === atMs) return known;
  if (atMs <= nowMs) throw invalid('at_time must be in the future');
  return { kind: 'at', atMs };
}

const isTarget = (target: string, nodeId: string): boolean => ['auto', 'pool', 'all', nodeId].includes(target);

/** A schedule stays on its machine. */
function checkTarget(target: string, nodeId: string): string {
  if (isTarget(target, nodeId)) return target;
  throw invalid(`target_mode must be auto, pool, all or ${nodeId}: a schedule stays on its machine`);
}

/** The machine that a target names; undefined: any. Where all machines are meant, the active one runs it. */
export const targetOf = (target: string, nodeId: string): string | undefined =>
  target === 'all' ? nodeId : ['auto', 'pool'].includes(target) ? undefined : target;

const withText = (payload: CronPayload, text: string): CronPayload =>
  payload.kind === 'systemEvent' ? { ...payload, text } : { ...payload, message: text };

const toolsOf = (approval: CronApproval): string[] => (approval.mode === 'allow' ? [...approval.tools] : []);

const approvalOf = (tools: string[]): CronApproval =>
  tools.length === 0 ? { mode: 'deny' } : { mode: 'allow', tools };

/** A job that waits for a person keeps doing so when a client sends its empty list back. */
const changedApproval = (tools: string[], before: CronApproval): CronApproval =>
  isDeepStrictEqual(tools, toolsOf(before)) ? before : approvalOf(tools);

function filled(value: string | undefined, field: string): string {
  if (value === undefined || value.trim() === '') throw invalid(`${field} is required`);
  return value;
}

const invalid = (text: string): GatewayError => new GatewayError('INVALID_REQUEST', text);

/** The names that HTTP has for the fields of a job, in errors of the code that checks jobs. */
const WORDS: readonly [RegExp, string][] = [
  [/^schedule\.expr /, 'Invalid cron expression: it '],
  [/^schedule\.tz /, 'timezone '],
  [/^schedule\.atMs:? /, 'at_time '],
  [/\(schedule\.atMs\)/, '(at_time)'],
  [/^payload\.message /, 'initial_message '],
  [/^approval\.tools\.\d+: /, 'auto_approve_tools: '],
];

/** An error about a job in the words of HTTP. */
export function inWordsOfHttp(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  if (error.code === 'NOT_FOUND') return notFound();
  const message = WORDS.reduce((text, [pattern, word]) => text.replace(pattern, word), error.message);
  return message === error.message ? error : new GatewayError(error.code, message, { cause: error });
}

export const notFound = (): GatewayError => new GatewayError('NOT_FOUND', 'Schedule not found');
