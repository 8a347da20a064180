import { placeWall, resolveTimeZone, toLocalTime } from './schedule-zone.ts';

/** A point in time as it was written by a person, or a sentence about what could not be read. */
export type ReadTime = { atMs: number; note?: string } | { problem: string };

/** When a text is read: `tz` is the zone of times that name none. */
export interface ReadingContext {
  nowMs: number;
  tz: string;
}

/** Reads `2026-12-24 18:00 Europe/Berlin`, `2026-12-24T18:00Z`, `18:00` (today's); past ones too. */
export function parseTime(text: string, context: ReadingContext): ReadTime {
  const { tz = context.tz, rest, problem } = splitZone(text.trim(), context.tz);
  if (problem !== undefined) return { problem };
  const today = toLocalTime(tz, context.nowMs).local.slice(0, 10);
  const read = parseDateTime(/^\d\d?:/.test(rest) ? `${today} ${rest}` : rest, tz);
  return 'atMs' in read && read.atMs < 0 ? { problem: `"${rest}" is before 1970` } : read;
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?( ?(?:Z|[+-]\d\d:?\d\d))?$/i;

/** A date, its time of day (left out: midnight) and its offset from UTC (left out: that of the zone). */
export function parseDateTime(text: string, tz: string): ReadTime {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset] =
    DATE_TIME.exec(text) ?? [];
  if (year === undefined) return { problem: `"${text}" is no time: ${EXAMPLES}` };
  const days = toDayCount(Number(year), Number(month));
  if (days === undefined) return { problem: `"${text}" is no date: there are 12 months` };
  if (Number(day) < 1 || Number(day) > days) {
    return { problem: `"${text}" is no date: ${MONTHS[Number(month) - 1]} ${year} has ${days} days` };
  }
  const wall = `${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}:${second}`;
  const wallMs = Date.parse(`${wall}Z`);
  const isTimeOfDay = Number(hour) < 24 && !Number.isNaN(wallMs);
  if (!isTimeOfDay) return { problem: `"${text}" is no time: a day goes from 00:00 to 23:59:59` };
  const ms = Number(fraction.padEnd(3, '0'));
  if (offset !== undefined) return { atMs: wallMs - toOffsetMs(offset) + ms };
  const atMs = toInstant(tz, wallMs);
  return { atMs: atMs + ms, ...noteOf(wall.slice(11), { atMs, tz }) };
}

/** What is said where the clock does not show what was asked for: it is set forward over it. */
export function noteOf(time: string, { atMs, tz }: { atMs: number; tz: string }): { note?: string } {
  const { local, offset } = toLocalTime(tz, atMs);
  const [day, shownTime = ''] = local.split('T');
  if (time === shownTime) return {};
  const [asked, shown] = [time, shownTime].map((text) => text.replace(/:00$/, ''));
  return {
    note: `${asked} does not exist on ${day} in ${tz}: the clock is set forward over it, to ${shown} ${offset}`,
  };
}

/** The last word is a zone when there is one of that name; with a slash between names it cannot be anything else. */
export function splitZone(text: string, hostTz: string): { tz?: string; rest: string; problem?: string } {
  const [, rest = '', name = ''] = /^(.+) ([a-z][\w+/-]{2,})$/i.exec(text) ?? [];
  const tz = name === '' ? undefined : resolveTimeZone(name, hostTz);
  if (tz !== undefined) return { tz, rest };
  if (!/[a-z]{3}\/[a-z]/i.test(name)) return { rest: text };
  return { rest, problem: `"${name}" is no time zone that is known here; write it like Europe/Berlin` };
}

const EXAMPLES = 'write it like "18:00", "2026-12-24 18:00", "2026-12-24 18:00 Europe/Berlin" or "2026-12-24T18:00Z"';

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** Undefined for a month that no year has. */
function toDayCount(year: number, month: number): number | undefined {
  if (month < 1 || month > MONTHS.length) return undefined;
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate(); // the calendar comes again every 400 years
}

/** By the rule of decision 32: the first of two, and the end of the gap. */
function toInstant(tz: string, wallMs: number): number {
  const place = placeWall(tz, wallMs);
  if (place.kind === 'once') return place.atMs;
  return place.kind === 'twice' ? place.firstMs : place.gap.atMs;
}

function toOffsetMs(text: string): number {
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):?(\d\d)/.exec(text) ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -ms : ms;
}
