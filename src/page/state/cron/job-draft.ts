import type {
  CronApproval,
  CronExtendedJob,
  CronMisfire,
  CronPayload,
  CronSchedule,
} from '../../../../protocol/cron.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { toScheduleText } from './schedule-text.ts';

/** The fields of the job form. An empty text means the default. */
export interface JobDraft {
  name: string;
  when: string;
  message: string;
  target: 'isolated' | 'main';
  wake: 'next-heartbeat' | 'now';
  misfire: '' | 'once' | 'skip' | 'all' | 'within';
  withinMinutes: string;
  /** Maximum number of missed runs to catch up on, for `all`. */
  allCount: string;
  approval: '' | 'deny' | 'wait' | 'allow';
  waitMinutes: string;
  /** Names, separated by commas or spaces. */
  tools: string;
  maxRunMinutes: string;
  timeoutMinutes: string;
  thinking: string;
  deleteAfterRun: boolean;
  deliver: boolean;
  channel: string;
  to: string;
  bestEffort: boolean;
}

export type DraftField = keyof JobDraft;
export type Problems = Partial<Record<DraftField, string>>;
type JobFields = Omit<ParamsInput<'cron.add'>, 'schedule' | 'enabled' | 'isolation' | 'extended' | 'idempotencyKey'>;

/** The limit of `all` without a number. */
const USUAL_ALL = '10';
const EMPTY: JobDraft = {
  name: '',
  when: '',
  message: '',
  target: 'isolated',
  wake: 'next-heartbeat',
  misfire: '',
  withinMinutes: '120',
  allCount: USUAL_ALL,
  approval: '',
  waitMinutes: '10',
  tools: '',
  maxRunMinutes: '',
  timeoutMinutes: '',
  thinking: '',
  deleteAfterRun: false,
  deliver: false,
  channel: '',
  to: '',
  bestEffort: false,
};

/** The form fields for a new or an existing job. */
export function toDraft(job: CronExtendedJob | undefined, timeZone: string): JobDraft {
  if (job === undefined) return EMPTY;
  const { name = '', schedule, sessionTarget, wakeMode, payload, misfire, approval, deleteAfterRun, maxRunMs } = job;
  return {
    ...EMPTY,
    name,
    target: sessionTarget,
    wake: wakeMode,
    deleteAfterRun,
    when: toScheduleText(schedule, timeZone),
    maxRunMinutes: toMinutes(maxRunMs),
    ...ofMisfire(misfire),
    ...ofApproval(approval),
    ...ofPayload(payload),
  };
}

/** The job to send, without the schedule (the daemon parses it), or the error messages by field. */
export function toJobFields(draft: JobDraft): { fields: JobFields } | { problems: Problems } {
  const problems = problemsOf(draft);
  if (Object.keys(problems).length > 0) return { problems };
  const { name, target, wake, deleteAfterRun, maxRunMinutes } = draft;
  return {
    fields: {
      ...(name.trim() !== '' && { name: name.trim() }),
      sessionTarget: target,
      wakeMode: wake,
      payload: toPayload(draft),
      deleteAfterRun,
      misfire: toMisfire(draft),
      approval: toApproval(draft),
      maxRunMs: maxRunMinutes.trim() === '' ? undefined : toMs(maxRunMinutes),
    },
  };
}

/** Whether the schedule has been edited. An unedited schedule keeps its anchor. */
export const isRescheduled = (draft: JobDraft, schedule: CronSchedule, timeZone: string): boolean =>
  draft.when.trim() !== toScheduleText(schedule, timeZone);

function ofMisfire(misfire: CronMisfire): Partial<JobDraft> {
  if (typeof misfire === 'string') return { misfire };
  if ('all' in misfire) return { misfire: 'all', allCount: String(misfire.all) };
  return { misfire: 'within', withinMinutes: toMinutes(misfire.within) };
}

function ofApproval(approval: CronApproval): Partial<JobDraft> {
  if (approval.mode === 'allow') return { approval: 'allow', tools: approval.tools.join(', ') };
  if (approval.mode === 'deny' || approval.timeoutMs === undefined) return { approval: approval.mode };
  return { approval: 'wait', waitMinutes: toMinutes(approval.timeoutMs) };
}

function ofPayload(payload: CronPayload): Partial<JobDraft> {
  if (payload.kind === 'systemEvent') return { message: payload.text };
  const { message, thinking = '', timeoutSeconds, deliver = false, channel = '', to = '' } = payload;
  return {
    message,
    thinking,
    deliver,
    channel,
    to,
    bestEffort: payload.bestEffortDeliver ?? false,
    timeoutMinutes: timeoutSeconds === undefined ? '' : toMinutes(timeoutSeconds * 1_000),
  };
}

function toPayload(draft: JobDraft): CronPayload {
  const { target, message, thinking, timeoutMinutes, deliver, channel, to, bestEffort } = draft;
  if (target === 'main') return { kind: 'systemEvent', text: message.trim() };
  return {
    kind: 'agentTurn',
    message: message.trim(),
    ...(thinking !== '' && { thinking }),
    ...(timeoutMinutes.trim() !== '' && { timeoutSeconds: Math.round(toMs(timeoutMinutes) / 1_000) }),
    ...(deliver && { deliver, bestEffortDeliver: bestEffort }),
    ...(deliver && channel.trim() !== '' && { channel: channel.trim() }),
    ...(deliver && to.trim() !== '' && { to: to.trim() }),
  };
}

function toMisfire({ misfire, withinMinutes, allCount }: JobDraft): CronMisfire | undefined {
  if (misfire === '') return undefined;
  if (misfire === 'within') return { within: toMs(withinMinutes) };
  return misfire === 'all' && allCount.trim() !== USUAL_ALL ? { all: Number(allCount) } : misfire;
}

function toApproval(draft: JobDraft): CronApproval | undefined {
  switch (draft.approval) {
    case '':
      return undefined;
    case 'deny':
      return { mode: 'deny' };
    case 'wait':
      return { mode: 'wait', timeoutMs: toMs(draft.waitMinutes) };
    case 'allow':
      return { mode: 'allow', tools: toNames(draft.tools) };
  }
}

const WEEK = 7 * 1_440;

function problemsOf(draft: JobDraft): Problems {
  const { misfire, approval, target } = draft;
  const isAgent = target === 'isolated';
  const found: [DraftField, string | undefined][] = [
    ['when', draft.when.trim() === '' ? 'Enter a schedule, such as every 15m' : undefined],
    ['message', draft.message.trim() === '' ? 'Enter a message' : undefined],
    ['withinMinutes', misfire === 'within' ? minutesProblem(draft.withinMinutes, 366 * 1_440) : undefined],
    ['allCount', misfire === 'all' ? countProblem(draft.allCount) : undefined],
    ['waitMinutes', isAgent && approval === 'wait' ? minutesProblem(draft.waitMinutes, WEEK) : undefined],
    [
      'tools',
      isAgent && approval === 'allow' && toNames(draft.tools).length === 0 ? 'Enter at least one tool' : undefined,
    ],
    ['maxRunMinutes', draft.maxRunMinutes.trim() === '' ? undefined : minutesProblem(draft.maxRunMinutes, WEEK)],
    ['timeoutMinutes', draft.timeoutMinutes.trim() === '' ? undefined : minutesProblem(draft.timeoutMinutes, 1_440)],
  ];
  return Object.fromEntries(found.filter(([, problem]) => problem !== undefined));
}

function countProblem(text: string): string | undefined {
  const count = Number(text.trim() === '' ? Number.NaN : text);
  return Number.isInteger(count) && count >= 1 && count <= 100 ? undefined : 'Enter a number from 1 to 100';
}

/** The minimum is one second, as in the protocol. */
function minutesProblem(text: string, most: number): string | undefined {
  const minutes = Number(text.trim() === '' ? Number.NaN : text);
  return minutes >= 1 / 60 && minutes <= most ? undefined : `Enter minutes, at most ${most.toLocaleString('en-US')}`;
}

const toNames = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');
const toMs = (minutes: string): number => Math.round(Number(minutes) * 60_000);
const toMinutes = (ms: number): string => String(Math.round((ms / 60_000) * 1_000) / 1_000);
