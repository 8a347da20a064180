import type { CronSchedule } from '../../../../protocol/cron.ts';

/** A schedule as a person would type it. Times are in `timeZone`; zero seconds are left out. */
export function toScheduleText(schedule: CronSchedule, timeZone: string): string {
  switch (schedule.kind) {
    case 'at':
      return `at ${toClockText(schedule.atMs, timeZone)}`;
    case 'every':
      return `every ${toDurationText(schedule.everyMs)}`;
    case 'cron':
      return schedule.tz === undefined ? schedule.expr : `${schedule.expr} ${schedule.tz}`;
  }
}

const UNITS = [
  { letter: 'd', ms: 86_400_000 },
  { letter: 'h', ms: 3_600_000 },
  { letter: 'm', ms: 60_000 },
  { letter: 's', ms: 1_000 },
] as const;

/** For example `2h30m`. Fractions of a second are dropped. */
export function toDurationText(ms: number): string {
  const parts = UNITS.map(({ letter, ms: unitMs }, index) => {
    const largerMs = UNITS[index - 1]?.ms ?? Number.POSITIVE_INFINITY;
    const count = Math.floor((ms % largerMs) / unitMs);
    return count === 0 ? '' : `${count}${letter}`;
  });
  return parts.join('') || `${ms}ms`;
}

/** `2026-12-24 18:00`. */
function toClockText(atMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(atMs);
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${year}-${month}-${day} ${hour}:${minute}${second === '00' ? '' : `:${second}`}`;
}
