import type { CronApproval, CronExtendedJob, CronMisfire, CronPayload, CronSchedule } from '../../../protocol/cron.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { parseTime, type ReadTime } from '../../cron/schedule/date-time-text.ts';
import { parseHumanSchedule, type ReadSchedule } from '../../cron/schedule/schedule-text.ts';
import { resolveTimeZone } from '../../cron/schedule/schedule-zone.ts';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../start-error.ts';

/** The flags of `cron add` and `cron edit` that describe a job. */
export interface JobFlags {
  tz?: string;
  main?: boolean;
  name?: string;
  /** `now` or `next`. */
  wake?: string;
  thinking?: string;
  timeout?: string;
  deliver?: boolean;
  channel?: string;
  to?: string;
  bestEffort?: boolean;
  /** `once`, `skip`, `all`, `all=20` or `within=2h`. */
  misfire?: string;
  deleteAfterRun?: boolean;
  maxRun?: string;
  /** `deny`, `wait`, `wait=10m` or `allow=bash,read_file`. */
  approval?: string;
  /** Starts the result line in the main conversation. */
  prefix?: string;
}

/** The flags of `cron add`. */
export interface NewJobFlags extends JobFlags {
  disabled?: boolean;
  /** The id of a machine. */
  node?: string;
}

export interface EditFlags extends JobFlags {
  schedule?: string;
  message?: string;
  isolated?: boolean;
  enable?: boolean;
  disable?: boolean;
}

/** The current time, and the time zone of the terminal. */
export interface Reading {
  nowMs: number;
  tz: string;
}

type TypedSchedule = Exclude<ReadSchedule, { problem: string }>;
type TypedTime = Exclude<ReadTime, { problem: string }>;
type NewJob = Omit<ParamsInput<'cron.add'>, 'extended' | 'idempotencyKey'>;
type JobPatch = ParamsInput<'cron.update'>['patch'];

/** Reads a typed schedule and its time zone; `tz` applies to times that name none. Throws UsageError. */
export function readSchedule(text: string, tz: string | undefined, { nowMs, tz: here }: Reading): TypedSchedule {
  const read = parseHumanSchedule(text, { nowMs, tz: toZone(tz) ?? here });
  if ('problem' in read) throw new UsageError(`The schedule: ${read.problem}.`);
  return read;
}

/** Reads a typed time, which may be in the past. Throws UsageError. */
export function readTime(text: string, tz: string | undefined, { nowMs, tz: here }: Reading): TypedTime {
  const read = parseTime(text, { nowMs, tz: toZone(tz) ?? here });
  if ('problem' in read) throw new UsageError(`The time: ${read.problem}.`);
  return read;
}

/** Throws UsageError if the flags contradict each other. */
export function toNewJob(schedule: CronSchedule, message: string, flags: NewJobFlags): NewJob {
  const isMain = flags.main ?? false;
  return {
    schedule,
    sessionTarget: isMain ? 'main' : 'isolated',
    // A message to the main session is urgent; the result of a separate turn can wait.
    wakeMode: toWakeMode(flags.wake) ?? (isMain ? 'now' : 'next-heartbeat'),
    payload: isMain ? toSystemEvent(message, flags) : toAgentTurn({ kind: 'agentTurn', message }, flags),
    ...toOptions(flags),
    ...(flags.disabled && { enabled: false }),
    ...(flags.node !== undefined && { nodeId: flags.node }),
  };
}

/** The changes that the flags ask for, and no others. Throws UsageError. */
export function toJobPatch(job: CronExtendedJob, flags: EditFlags, reading: Reading): JobPatch {
  if (flags.enable && flags.disable) throw new UsageError('Use either --enable or --disable.');
  if (flags.main && flags.isolated) throw new UsageError('Use either --main or --isolated.');
  const schedule = toChangedSchedule(job, flags, reading);
  const wakeMode = toWakeMode(flags.wake);
  const patch: JobPatch = {
    ...(schedule && { schedule }),
    ...((flags.main || flags.isolated) && { sessionTarget: flags.main ? 'main' : 'isolated' }),
    ...(wakeMode && { wakeMode }),
    ...toChangedPayload(job, flags),
    ...toOptions(flags),
    ...((flags.enable || flags.disable) && { enabled: flags.enable === true }),
  };
  if (Object.keys(patch).length === 0)
    throw new UsageError('Nothing to change. See the flags in headgate cron edit --help.');
  return patch;
}

function toChangedSchedule(
  { schedule }: CronExtendedJob,
  { schedule: text, tz }: EditFlags,
  reading: Reading,
): CronSchedule | undefined {
  if (text !== undefined) return readSchedule(text, tz, reading).schedule;
  if (tz === undefined) return undefined;
  if (schedule.kind !== 'cron')
    throw new UsageError('--tz without --schedule is only for jobs with a cron expression such as 0 9 * * *.');
  return { ...schedule, tz: toZone(tz) };
}

/** A job keeps its text when it moves between the main session and a separate one. */
function toChangedPayload({ payload, sessionTarget }: CronExtendedJob, flags: EditFlags): { payload?: CronPayload } {
  const isMain = flags.main ?? (sessionTarget === 'main' && !flags.isolated);
  const before = payload.kind === 'systemEvent' ? payload.text : payload.message;
  const message = flags.message ?? before;
  if (isMain) {
    const event = toSystemEvent(message, flags);
    return payload.kind === 'systemEvent' && message === before ? {} : { payload: event };
  }
  const turn = payload.kind === 'agentTurn' ? payload : { kind: 'agentTurn' as const, message };
  const changed = toAgentTurn({ ...turn, message }, flags);
  return JSON.stringify(changed) === JSON.stringify(payload) ? {} : { payload: changed };
}

type AgentTurn = Extract<CronPayload, { kind: 'agentTurn' }>;
/** Flags that only agent turns have. */
const TURN_FLAGS = [
  ['thinking', 'thinking'],
  ['timeout', 'timeout'],
  ['deliver', 'deliver'],
  ['channel', 'channel'],
  ['to', 'to'],
  ['bestEffort', 'best-effort'],
  ['approval', 'approval'],
  ['prefix', 'prefix'],
] as const;

function toSystemEvent(text: string, flags: JobFlags): CronPayload {
  const [field, flag] = TURN_FLAGS.find(([name]) => flags[name] !== undefined) ?? [];
  if (field !== undefined) {
    const typed = flags[field] === false ? `--no-${flag}` : `--${flag}`;
    throw new UsageError(`${typed} is only for jobs in a separate conversation, not for those in the main one.`);
  }
  return { kind: 'systemEvent', text };
}

function toAgentTurn(before: AgentTurn, { thinking, timeout, deliver, channel, to, bestEffort }: JobFlags): AgentTurn {
  const timeoutMs = timeout === undefined ? undefined : toMs(timeout, '--timeout');
  return {
    ...before,
    ...(thinking !== undefined && { thinking }),
    ...(timeoutMs !== undefined && { timeoutSeconds: Math.ceil(timeoutMs / 1_000) }),
    ...(deliver !== undefined && { deliver }),
    ...(channel !== undefined && { channel, deliver: deliver ?? true }),
    ...(to !== undefined && { to, deliver: deliver ?? true }),
    ...(bestEffort !== undefined && { bestEffortDeliver: bestEffort }),
  };
}

interface Options {
  name?: string;
  misfire?: CronMisfire;
  deleteAfterRun?: boolean;
  maxRunMs?: number;
  approval?: CronApproval;
  isolation?: JobPatch['isolation'];
}

function toOptions({ name, misfire, deleteAfterRun, maxRun, approval, prefix }: JobFlags): Options {
  return {
    ...(name !== undefined && { name }),
    ...(misfire !== undefined && { misfire: toMisfire(misfire) }),
    ...(deleteAfterRun !== undefined && { deleteAfterRun }),
    ...(maxRun !== undefined && { maxRunMs: toMs(maxRun, '--max-run') }),
    ...(approval !== undefined && { approval: toApproval(approval) }),
    ...(prefix !== undefined && { isolation: { postToMainPrefix: prefix } }),
  };
}

function toMisfire(text: string): CronMisfire {
  if (text === 'once' || text === 'skip' || text === 'all') return text;
  const [mode, value] = splitAt(text, '=');
  if (mode === 'within' && value !== undefined) return { within: toMs(value, '--misfire within') };
  if (mode === 'all' && value !== undefined) return { all: toAll(value) };
  throw new UsageError(`--misfire must be once, skip, all, all=20 or within=2h, not "${text}".`);
}

function toAll(text: string): number {
  const all = /^\d+$/.test(text) ? Number(text) : 0;
  if (all >= 1 && all <= 100) return all;
  throw new UsageError(`--misfire all must be a number from 1 to 100, not "${text}".`);
}

function toApproval(text: string): CronApproval {
  const [mode, value] = splitAt(text, '=');
  const tools = value?.split(',').filter((name) => name !== '') ?? [];
  if (mode === 'deny' && value === undefined) return { mode };
  if (mode === 'wait') return value === undefined ? { mode } : { mode, timeoutMs: toMs(value, '--approval wait') };
  if (mode === 'allow' && tools.length > 0) return { mode, tools };
  throw new UsageError(`--approval must be deny, wait, wait=10m or allow=bash,read_file, not "${text}".`);
}

function toWakeMode(text: string | undefined): 'now' | 'next-heartbeat' | undefined {
  if (text === undefined) return undefined;
  if (text === 'now') return 'now';
  if (text === 'next') return 'next-heartbeat';
  throw new UsageError(`--wake must be now or next, not "${text}".`);
}

function toZone(tz: string | undefined): string | undefined {
  if (tz === undefined) return undefined;
  const zone = resolveTimeZone(tz, 'UTC');
  if (zone === undefined)
    throw new UsageError(`--tz: "${tz}" is not a known time zone; use a name like Europe/Berlin.`);
  return zone;
}

function toMs(text: string, flag: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new UsageError(`${flag} must be a time such as 90s, 30m or 2h, not "${text}".`);
  return ms;
}

function splitAt(text: string, mark: string): [before: string, after: string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
