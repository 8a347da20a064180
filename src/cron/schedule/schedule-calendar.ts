import { Cron, CronPattern } from 'croner';

/** The dates and times of day of a cron expression, without a time zone. */
export interface Calendar {
  /** No `*`, `?` or step in seconds, minutes and hours: fixed times of day, not a rhythm. */
  isFixedTime: boolean;
  /**
   * The first matching wall time after `wallMs`, on a whole second; undefined when there is none before the year 3000.
   */
  nextAfter(wallMs: number): number | undefined;
}

/** `@daily` and similar names. `@reboot` is not supported, because it is not a time. */
const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** Without `+`, which could combine days that never occur; croner would search four centuries for them. */
const MODE = { mode: '5-or-6-parts' } as const;

/**
 * Parses an expression that `problemOfExpression` accepts; throws for others. The result takes 80 kB of memory, so do
 * not keep it.
 */
export function readExpression(expr: string): Calendar {
  const fields = toFields(expr);
  // Days in UTC always have 24 hours, so its calendar has no clock changes.
  const cron = new Cron(fields.join(' '), { ...MODE, utcOffset: 0, paused: true });
  return {
    isFixedTime: !fields.slice(0, -3).some((field) => /[*?/]/.test(field)),
    nextAfter: (wallMs) => cron.nextRun(new Date(wallMs))?.getTime(),
  };
}

/** Why `expr` is invalid or never fires, as the end of a sentence; undefined when it is valid. */
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

/** Names the first invalid field: the one that is invalid even with wildcards in all other fields. */
function problemOfFields(fields: readonly string[]): string {
  const named = FIELDS.slice(FIELDS.length - fields.length);
  const wrong = fields.findIndex((field, index) => !isReadable(named.map((_, at) => (at === index ? field : '*'))));
  const { name, range } = named[wrong] ?? { name: 'expression', range: '' };
  return `cannot be read: invalid ${name} "${fields[wrong] ?? fields.join(' ')}" (${range}; lists 1,2, ranges 1-5, steps */5 or 1-9/2)`;
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

/** Whether the days of the expression exist in some year. A weekday always comes, even a fifth one in February. */
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
