import type { CronMisfire, CronSchedule } from '../../protocol/cron.ts';
import type { Params } from '../../protocol/index.ts';
import type { Random } from '../checker/random.ts';
import type { Nature } from './sim-executor.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const PERIODS = [7, 45, 90, 300, 420, 900, 3_600, 7_200, 86_400].map((seconds) => seconds * SECOND_MS);
/** Expressions that the checker can read, too: times of day and intervals. */
const EXPRESSIONS = [
  ...['*/5 * * * *', '*/15 * * * *', '0 * * * *', '30 */2 * * *', '10,40 * * * *'],
  ...['30 2 * * *', '0 3 * * *', '15 1,2,3 * * *', '0 9 * * 1-5', '45 23 * * 0', '30 2 29 3 *'],
];
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Casablanca',
];
const POLICIES: CronMisfire[] = ['once', 'skip', 'all', { all: 3 }, { within: 2 * HOUR_MS }, { within: 5 * MINUTE_MS }];

/** A random job. */
export function askedJob(random: Random, nowMs: number): Params<'cron.add'> {
  const schedule = someSchedule(random, nowMs);
  const isMain = random.chance(0.3);
  return {
    schedule,
    ...(isMain
      ? { sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'say so' } }
      : { sessionTarget: 'isolated', payload: { kind: 'agentTurn', message: 'do it' } }),
    wakeMode: random.pick(['now', 'next-heartbeat']),
    ...(random.chance(0.6) && { misfire: random.pick(POLICIES) }),
    ...(schedule.kind === 'at' && { deleteAfterRun: random.chance(0.3) }),
    ...(random.chance(0.3) && { maxRunMs: random.pick([30 * SECOND_MS, 5 * MINUTE_MS, HOUR_MS]) }),
  };
}

export function someSchedule(random: Random, nowMs: number): CronSchedule {
  const kind = random.pick(['at', 'every', 'every', 'cron', 'cron']);
  if (kind === 'at') return { kind, atMs: nowMs + random.int(-2 * HOUR_MS, 3 * DAY_MS) };
  if (kind === 'cron') return { kind, expr: random.pick(EXPRESSIONS), tz: random.pick(ZONES) };
  const everyMs = random.pick(PERIODS);
  // The anchor is before any time to which the clock is set back; some anchors are later.
  const anchorMs = random.chance(0.2) ? nowMs + random.int(0, DAY_MS) : nowMs - 500 * DAY_MS - random.int(0, everyMs);
  return { kind: 'every', everyMs, anchorMs };
}

/** How long its runs take and how often they fail: most are quick, some overlap or never succeed. */
export const someNature = (random: Random): Nature => ({
  meanMs: random.pick([0, 500, 4_000, 20_000, 90_000, 600_000]),
  failRate: random.pick([0, 0, 0, 0.1, 0.5, 1]),
});
