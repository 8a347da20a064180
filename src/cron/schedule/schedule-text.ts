import type { CronSchedule } from '../../../protocol/cron.ts';
import { describeDuration, parseDuration } from '../../duration.ts';
import { noteOf, parseDateTime, type ReadingContext, splitZone } from './date-time-text.ts';
import { MIN_EVERY_MS, nextAfter, toPeriodMs } from './schedule.ts';
import { checkSchedule, type ScheduleProblem } from './schedule-check.ts';
import { toLocalTime } from './schedule-zone.ts';
import { findExpression } from './weekly-words.ts';

/**
 * A schedule that a person wrote, the zone it was read in (an instant does not keep its zone), and an optional note; or
 * a sentence about why it could not be read.
 */
export type ReadSchedule = { schedule: CronSchedule; tz: string; note?: string } | { problem: string };
type ReadWords = { schedule: CronSchedule; note?: string } | { problem: string };

/**
 * Reads `every 2h30m`, `in 20m`, `at 18:00`, `at 2026-12-24 18:00`, `2026-12-24T18:00Z`, `0 9 * * 1-5 Europe/Berlin`,
 * `@daily`. Times of day, dates without offset and expressions may end with a zone. A time of day that has passed means
 * tomorrow; a date and time that has passed is a problem.
 */
export function parseHumanSchedule(text: string, context: ReadingContext): ReadSchedule {
  if (text.length > MAX_TEXT_CHARS) return { problem: `a schedule has at most ${MAX_TEXT_CHARS} characters` };
  const { tz, rest, problem } = splitZone(text.trim().replaceAll(/\s+/g, ' '), context.tz);
  if (problem !== undefined) return { problem };
  const [, word = '', tail = rest] = /^(every|in|at) (.+)$/i.exec(rest) ?? [];
  if (tz !== undefined && needsNoZone(word, tail)) return { problem: `"${rest}" takes no time zone; leave out ${tz}` };
  const local = { nowMs: context.nowMs, tz: tz ?? context.tz };
  const read = readWords({ word: word.toLowerCase(), tail }, local);
  if ('problem' in read) return read;
  const wrong = checkSchedule(read.schedule, context.nowMs);
  return wrong === undefined ? { ...read, tz: local.tz } : { problem: toProblem(rest, wrong) };
}

/** For example `every 15 minutes`, `at 2026-12-24 18:00 +01:00 (Europe/Berlin)`, `0 9 * * 1-5 (Europe/Berlin)`. */
export function describeSchedule(schedule: CronSchedule, tz = 'UTC'): string {
  switch (schedule.kind) {
    case 'at': {
      const { local, offset } = toLocalTime(tz, schedule.atMs);
      return `at ${local.replace('T', ' ').replace(/:00$/, '')} ${offset} (${tz})`;
    }
    case 'every': {
      const text = `every ${describeDuration(schedule.everyMs)}`;
      return schedule.everyMs < MIN_EVERY_MS
        ? `${text} (runs every ${describeDuration(toPeriodMs(schedule.everyMs))})`
        : text;
    }
    case 'cron':
      return `${schedule.expr} (${schedule.tz ?? tz})`;
  }
}

const MAX_TEXT_CHARS = 400;

function readWords({ word, tail }: { word: string; tail: string }, context: ReadingContext): ReadWords {
  switch (word) {
    case 'every':
      return readEvery(tail);
    case 'in':
      return readIn(tail, context);
    case 'at':
      return readAt(tail, context);
    default:
      return /^\d{4}-/.test(tail) ? readAt(tail, context) : readExpression(tail, context);
  }
}

/** Words a problem for people, who do not know the field names. */
function toProblem(text: string, { field, problem }: ScheduleProblem): string {
  if (field === 'tz') return `tz ${problem}`;
  if (field !== 'expr') return `"${text}" is too far away: nothing is planned after the year 2999`;
  return `"${text}" ${problem}`;
}

const EXAMPLES =
  'write it like "every 15m", "in 20m", "at 18:00", "at 2026-12-24 18:00", "2026-12-24T18:00Z", "0 9 * * 1-5 Europe/Berlin" or "@daily"';

/** Whether a zone makes no sense: for a duration, and for an instant that already has an offset. */
function needsNoZone(word: string, tail: string): boolean {
  return /^(every|in)$/i.test(word) || /\d(Z|[+-]\d\d:?\d\d)$/i.test(tail);
}

function readEvery(text: string): ReadWords {
  const everyMs = parseSpan(text);
  if (everyMs !== undefined) return { schedule: { kind: 'every', everyMs } };
  const expr = findExpression(text);
  const example = expr === undefined ? '"every 15m" or "every 2h30m"' : `"${expr}" (minute hour day month weekday)`;
  return { problem: `"${text}" is not a duration; write it like ${example}` };
}

function readIn(text: string, { nowMs }: ReadingContext): ReadWords {
  const ms = parseSpan(text);
  if (ms === undefined) return { problem: `"${text}" is not a duration; write it like "in 20m" or "in 2h30m"` };
  return { schedule: { kind: 'at', atMs: nowMs + ms } };
}

/** Reads `15m`, `15 m`, `15 minutes`, `hour`. Must be more than zero. */
function parseSpan(text: string): number | undefined {
  const short = text
    .toLowerCase()
    .replaceAll(/\s{0,9}(weeks?|days?|hours?|minutes?|mins?|seconds?|secs?)\b/g, (word) => word.trim().charAt(0));
  const ms = parseDuration(short.replace(/^(?=[a-z])/, '1').replaceAll(' ', ''));
  return ms === undefined || ms === 0 ? undefined : ms;
}

function readExpression(text: string, { tz }: ReadingContext): ReadWords {
  if (!/^(@|(\S+ ){4,5}\S+$)/.test(text)) return { problem: `"${text}" is not a schedule: ${EXAMPLES}` };
  return { schedule: { kind: 'cron', expr: text, tz } };
}

function readAt(text: string, context: ReadingContext): ReadWords {
  if (/^\d\d?:\d\d(:\d\d)?$/.test(text)) return readTimeOfDay(text, context);
  const read = parseDateTime(text, context.tz);
  if ('problem' in read) return read;
  const { atMs, ...more } = read;
  return atMs <= context.nowMs ? { problem: `"${text}" has passed` } : { schedule: { kind: 'at', atMs }, ...more };
}

/** The next time that the clock shows this time of day, as a daily expression would fire. */
function readTimeOfDay(text: string, { nowMs, tz }: ReadingContext): ReadWords {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number);
  const schedule: CronSchedule = { kind: 'cron', expr: `${second} ${minute} ${hour} * * *`, tz };
  const atMs = checkSchedule(schedule, nowMs) === undefined ? nextAfter(schedule, nowMs, { anchorMs: 0 }) : undefined;
  if (atMs === undefined) return { problem: `"${text}" is not a time of day: it goes from 00:00 to 23:59:59` };
  const time = [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':');
  return { schedule: { kind: 'at', atMs }, ...noteOf(time, { atMs, tz }) };
}
