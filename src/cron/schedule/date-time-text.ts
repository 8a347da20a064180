import { placeWall, resolveTimeZone, toLocalTime } from './schedule-zone.ts';

/** A time that a person wrote, or a sentence about why it could not be read. */
export type ReadTime = { atMs: number; note?: string } | { problem: string };

/** The time of reading, and the zone for times that name none. */
export interface ReadingContext {
  nowMs: number;
  tz: string;
}

/** Reads `2026-12-24 18:00 Europe/Berlin`, `2026-12-24T18:00Z`, and `18:00` as today's. Accepts past times. */
export function parseTime(text: string, context: ReadingContext): ReadTime {
  const { tz = context.tz, rest, problem } = splitZone(text.trim(), context.tz);
  if (problem !== undefined) return { problem };
  const today = toLocalTime(tz, context.nowMs).local.slice(0, 10);
  const read = parseDateTime(/^\d\d?:/.test(rest) ? `${today} ${rest}` : rest, tz);
  return 'atMs' in read && read.atMs < 0 ? { problem: `"${rest}" is before 1970` } : read;
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?( ?(?:Z|[+-]\d\d:?\d\d))?$/i;

/**
 * Reads a date with an optional time of day (default midnight) and an optional offset from UTC (default: that of the
 * zone).
 */
export function parseDateTime(text: string, tz: string): ReadTime {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset] =
    DATE_TIME.exec(text) ?? [];
  if (year === undefined) return { problem: `"${text}" is not a time: ${EXAMPLES}` };
  const days = toDayCount(Number(year), Number(month));
  if (days === undefined) return { problem: `"${text}" is not a date: there are 12 months` };
  if (Number(day) < 1 || Number(day) > days) {
    return { problem: `"${text}" is not a date: ${MONTHS[Number(month) - 1]} ${year} has ${days} days` };
  }
  const wall = `${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}:${second}`;
  const wallMs = Date.parse(`${wall}Z`);
  const isTimeOfDay = Number(hour) < 24 && !Number.isNaN(wallMs);
  if (!isTimeOfDay) return { problem: `"${text}" is not a time: a day goes from 00:00 to 23:59:59` };
  const ms = Number(fraction.padEnd(3, '0'));
  if (offset !== undefined) return { atMs: wallMs - toOffsetMs(offset) + ms };
  const atMs = toInstant(tz, wallMs);
  return { atMs: atMs + ms, ...noteOf(wall.slice(11), { atMs, tz }) };
}

/** The note for a time that does not exist because the clock is set forward over it. */
export function noteOf(time: string, { atMs, tz }: { atMs: number; tz: string }): { note?: string } {
  const { local, offset } = toLocalTime(tz, atMs);
  const [day, shownTime = ''] = local.split('T');
  if (time === shownTime) return {};
  const [asked, shown] = [time, shownTime].map((text) => text.replace(/:00$/, ''));
  return {
    note: `${asked} does not exist on ${day} in ${tz}: the clock is set forward over it, to ${shown} ${offset}`,
  };
}

/** The last word is the zone if a zone has that name. A last word with a slash between letters can only be a zone. */
export function splitZone(text: string, hostTz: string): { tz?: string; rest: string; problem?: string } {
  const [, rest = '', name = ''] = /^(.+) ([a-z][\w+/-]{2,})$/i.exec(text) ?? [];
  const tz = name === '' ? undefined : resolveTimeZone(name, hostTz);
  if (tz !== undefined) return { tz, rest };
  if (!/[a-z]{3}\/[a-z]/i.test(name)) return { rest: text };
  return { rest, problem: `"${name}" is not a known time zone; use a name like Europe/Berlin` };
}

const EXAMPLES = 'write it like "18:00", "2026-12-24 18:00", "2026-12-24 18:00 Europe/Berlin" or "2026-12-24T18:00Z"';

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** Undefined for a month outside 1 to 12. */
function toDayCount(year: number, month: number): number | undefined {
  if (month < 1 || month > MONTHS.length) return undefined;
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate(); // the calendar repeats every 400 years
}

/** Applies decision 32: the first of two times, or the end of the gap. */
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
