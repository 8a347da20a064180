import type { CronSchedule } from '../../../protocol/cron.ts';
import { readExpression } from './schedule-calendar.ts';
import { nextInstant } from './schedule-instants.ts';
import { DAY_MS, toLocalTime } from './schedule-zone.ts';

/** Defaults for a schedule: the job's creation time, and the zone of the host (UTC if not given). */
export interface ScheduleDefaults {
  anchorMs: number;
  tz?: string;
}

/** An occurrence with its local time. */
export interface Preview {
  atMs: number;
  local: string;
  offset: string;
  tz: string;
}

/** Shorter periods would fill the ledger with occurrences that cannot run, and no agent turn needs them. */
export const MIN_EVERY_MS = 1_000;

/**
 * The first occurrence strictly after `afterMs`; undefined when none is left. The schedule must be valid by
 * `checkSchedule`. No occurrence lies before 1970 or after 2999.
 */
export function nextAfter(schedule: CronSchedule, afterMs: number, defaults: ScheduleDefaults): number | undefined {
  return occurrencesOf(schedule, defaults)(afterMs);
}

/** The next `count` occurrences strictly after `fromMs`; fewer when no more are left. */
export function preview(
  schedule: CronSchedule,
  { fromMs, count, ...defaults }: { fromMs: number; count: number } & ScheduleDefaults,
): Preview[] {
  const next = occurrencesOf(schedule, defaults);
  const tz = zoneOf(schedule, defaults);
  const found: Preview[] = [];
  for (let atMs = next(fromMs); atMs !== undefined && found.length < count; atMs = next(atMs)) {
    found.push({ atMs, ...toLocalTime(tz, atMs), tz });
  }
  return found;
}

/**
 * Whether a schedule has occurrences less than a day apart. An expression has them if it means more than one time of
 * day; days of 23 or 25 hours do not matter.
 */
export function isMoreFrequentThanDaily(schedule: CronSchedule): boolean {
  if (schedule.kind === 'at') return false;
  if (schedule.kind === 'every') return toPeriodMs(schedule.everyMs) < DAY_MS;
  const calendar = readExpression(schedule.expr);
  const someMs = calendar.nextAfter(0);
  if (someMs === undefined) return false;
  const midnightMs = someMs - (someMs % DAY_MS);
  const secondMs = calendar.nextAfter(calendar.nextAfter(midnightMs - 1) ?? someMs);
  return secondMs !== undefined && secondMs < midnightMs + DAY_MS;
}

/** Rounds a period below `MIN_EVERY_MS` up to its first multiple of at least that, so that it keeps its grid. */
export function toPeriodMs(everyMs: number): number {
  return everyMs * Math.ceil(Math.max(1, MIN_EVERY_MS / everyMs));
}

/** The schedule with its effective period, as shown to clients. */
export const usedPeriod = <S extends CronSchedule>(schedule: S): S =>
  schedule.kind === 'every' ? { ...schedule, everyMs: toPeriodMs(schedule.everyMs) } : schedule;

export function zoneOf(schedule: CronSchedule, defaults: Pick<ScheduleDefaults, 'tz'>): string {
  return (schedule.kind === 'cron' ? schedule.tz : undefined) ?? defaults.tz ?? 'UTC';
}

/** Times from the year 3000 on are not considered. */
export const END_MS = Date.UTC(3000, 0, 1);

function occurrencesOf(schedule: CronSchedule, defaults: ScheduleDefaults): (afterMs: number) => number | undefined {
  const next = unboundedOccurrencesOf(schedule, defaults);
  return (afterMs) => {
    if (afterMs >= END_MS) return undefined;
    const atMs = next(Math.max(afterMs, -1));
    return atMs !== undefined && atMs < END_MS ? atMs : undefined;
  };
}

function unboundedOccurrencesOf(
  schedule: CronSchedule,
  defaults: ScheduleDefaults,
): (afterMs: number) => number | undefined {
  switch (schedule.kind) {
    case 'at':
      return (afterMs) => (schedule.atMs > afterMs ? schedule.atMs : undefined);
    case 'every': {
      const periodMs = toPeriodMs(schedule.everyMs);
      const anchorMs = schedule.anchorMs ?? defaults.anchorMs;
      return (afterMs) => (afterMs < anchorMs ? anchorMs : afterMs - ((afterMs - anchorMs) % periodMs) + periodMs);
    }
    case 'cron': {
      const calendar = readExpression(schedule.expr);
      const tz = zoneOf(schedule, defaults);
      return (afterMs) => nextInstant(calendar, tz, afterMs);
    }
  }
}
