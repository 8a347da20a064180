import type { ParamsInput } from '../../protocol/index.ts';
import type { PlannedJob } from './evidence.ts';

type Wish = ParamsInput<'cron.add'>;

/** Repeating jobs, due at full seconds, so that many are due at once. */
export const castOf = (chapter: string): Wish[] => [
  { ...telling(`${chapter} each second`), schedule: { kind: 'every', everyMs: 1_000, anchorMs: 0 } },
  { ...telling(`${chapter} all of them`), schedule: SECONDS, misfire: 'all' },
  { ...telling(`${chapter} wakes`), schedule: { kind: 'every', everyMs: 3_000, anchorMs: 0 }, wakeMode: 'now' },
  { ...asking(`${chapter} often`), schedule: { kind: 'every', everyMs: 1_000, anchorMs: 0 }, misfire: 'skip' },
  { ...asking(`${chapter} by the calendar`), schedule: { kind: 'cron', expr: '*/2 * * * * *', tz: 'Asia/Kathmandu' } },
  { ...asking(`${chapter} all`), schedule: { kind: 'every', everyMs: 2_000, anchorMs: 1_000 }, misfire: 'all' },
];

const SECONDS = { kind: 'cron', expr: '* * * * * *', tz: 'UTC' } as const;

/** One-time jobs. */
export const onceAt = (name: string, atMs: number): Wish[] => [
  { ...telling(`${name} line`), schedule: { kind: 'at', atMs }, deleteAfterRun: true },
  { ...asking(`${name} turn`), schedule: { kind: 'at', atMs } },
];

type Told = Omit<Wish, 'schedule'>;

const telling = (name: string): Told => ({
  name,
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text: `«${name}»` },
});

/** The command runs without approval. */
const asking = (name: string): Told => ({
  name,
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message: 'Do what you always do.' },
  approval: { mode: 'allow', tools: ['bash'] },
});

/** Each due time of a job before `endMs`, calculated independently for the few expressions used. */
export function instantsOf({ schedule, createdMs }: PlannedJob, endMs: number): number[] {
  if (schedule.kind === 'at') return schedule.atMs < endMs ? [schedule.atMs] : [];
  const [everyMs, anchorMs] =
    schedule.kind === 'every' ? [schedule.everyMs, schedule.anchorMs ?? createdMs] : [periodOf(schedule.expr), 0];
  const first = anchorMs + (Math.floor((createdMs - anchorMs) / everyMs) + 1) * everyMs;
  return Array.from({ length: Math.max(0, Math.ceil((endMs - first) / everyMs)) }, (_, n) => first + n * everyMs);
}

function periodOf(expr: string): number {
  const [, secs = '1'] = /^\*(?:\/(\d+))?(?: \*){5}$/.exec(expr) ?? [];
  return Number(secs) * 1_000;
}
