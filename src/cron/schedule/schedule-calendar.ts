import { Cron, CronPattern } from 'croner';

/** What a cron expression says of dates and times of day; it knows no time zone. */
export interface Calendar {
  /** No `*`, `?` or step in seconds, minutes and hours: these are times of day, not a rhythm. */
  isFixedTime: boolean;
  /** The first matching wall time after `wallMs`, on a whole second; undefined when there is none before the year 3000. */
  nextAfter(wallMs: number): number | undefined;
}

/** `@daily` and its like, as they are commonly read. `@reboot` is no time. */
const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** Without `+`: with it, days could be asked for that never come, and croner would search four centuries for them. */
const MODE = { mode: '5-or-6-parts' } as const;

/**
 * Reads an expression that `problemOfExpression` has nothing against; throws at another. What it answers holds 80 kB:
 * ask it and drop it.
 */
export function readExpression(expr: string): Calendar {
  const fields = toFields(expr);
  // The calendar of UTC is the bare calendar: all its days have 24 hours.
  const cron = new Cron(fields.join(' '), { ...MODE, utcOffset: 0, paused: true });
  return {
    isFixedTime: !fields.slice(0, -3).some((field) => /[*?/]/.test(field)),
    nextAfter: (wallMs) => cron.nextRun(new Date(wallMs))?.getTime(),
  };
}

/** Why `expr` is no expression that ever fires, as a sentence; undefined when it is one. */
export function problemOfExpression(expr: string): string | undefined {
  if (expr.length > MAX_EXPRESSION_CHARS) return `is longer than ${MAX_EXPRESSION_CHARS} characters`;
  const fields = toFields(expr);
  if (fields.length < 5 || fields.length > 6) return problemOfCount(fields);
  if (!isReadable(fields)) return problemOfFields(fields);
  return hasDays(new CronPattern(fields.join(' '), undefined, MODE)) ? undefined : 'never fires: no month has that day';
}

const MAX_EXPRESSION_CHARS = 256;

function toFields(expr: string): string[] {
  const text = expr.trim();
  return (NICKNAMES.get(text.toLowerCase()) ?? text).split(/\s+/).filter((field) => field !== '');
}

function problemOfCount(fields: readonly string[]): string {
  const [first = ''] = fields;
  if (first.startsWith('@')) return `is not one of ${[...NICKNAMES.keys()].join(', ')}`;
  const count = fields.length === 1 ? '1 field' : `${fields.length} fields`;
  return `has ${count}; it needs 5 (minute hour day month weekday) or 6 (with seconds in front)`;
}

const FIELDS = [
  { name: 'second', range: '0-59' },
  { name: 'minute', range: '0-59' },
  { name: 'hour', range: '0-23' },
  { name: 'day of the month', range: '1-31, L, LW, 15W' },
  { name: 'month', range: '1-12 or JAN-DEC' },
  { name: 'weekday', range: '0-7 or SUN-SAT, 5L, MON#2' },
];

/** Names the first field that is wrong: the one that alone, among wildcards, cannot be read either. */
function problemOfFields(fields: readonly string[]): string {
  const named = FIELDS.slice(FIELDS.length - fields.length);
  const wrong = fields.findIndex((field, index) => !isReadable(named.map((_, at) => (at === index ? field : '*'))));
  const { name, range } = named[wrong] ?? { name: 'expression', range: '' };
  return `cannot be read: "${fields[wrong] ?? fields.join(' ')}" is no ${name} (${range}; lists 1,2, ranges 1-5, steps */5 or 1-9/2)`;
}

function isReadable(fields: readonly string[]): boolean {
  if (fields.some((field) => !/^[\w*?,/#-]+$/.test(field))) return false;
  try {
    new CronPattern(fields.join(' '), undefined, MODE);
    return true;
  } catch {
    return false;
  }
}

/** Whether some year has a day that the expression means. A weekday always comes, even the fifth of February. */
function hasDays(pattern: CronPattern): boolean {
  if (!pattern.starDOW || pattern.lastDayOfMonth || pattern.lastWeekday) return true;
  const earliest = Math.min(firstOf(pattern.day), firstOf(pattern.nearestWeekdays)) + 1;
  return LONGEST_DAYS.some((days, month) => pattern.month[month] === 1 && earliest <= days);
}

function firstOf(flags: readonly number[]): number {
  const index = flags.findIndex((flag) => flag > 0);
  return index === -1 ? Number.POSITIVE_INFINITY : index;
}

const LONGEST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
