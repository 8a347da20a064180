const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [
  { unit: 'minute', ms: MINUTE_MS, most: 60 },
  { unit: 'hour', ms: HOUR_MS, most: 24 },
  { unit: 'day', ms: DAY_MS, most: 7 },
] as const;

/** A past time relative to now: `5 minutes ago`, `yesterday`; after a week, the date. */
export function toMoment(atMs: number, nowMs: number, locale?: string): string {
  const ago = Math.max(0, nowMs - atMs);
  if (ago < MINUTE_MS) return 'just now';
  const step = STEPS.find(({ ms, most }) => ago < ms * most);
  if (!step) return new Date(atMs).toLocaleDateString(locale, { dateStyle: 'medium' });
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-Math.floor(ago / step.ms), step.unit);
}

const DISTANCES = [
  { unit: 'second', ms: SECOND_MS, most: 90 },
  { unit: 'minute', ms: MINUTE_MS, most: 90 },
  { unit: 'hour', ms: HOUR_MS, most: 36 },
  { unit: 'day', ms: DAY_MS, most: Number.POSITIVE_INFINITY },
] as const;

/** The distance to a past or future time: `in 42 seconds`, `in 3 hours`, `2 days ago`. */
export function toDistance(atMs: number, nowMs: number, locale?: string): string {
  const distance = atMs - nowMs;
  const step = DISTANCES.find(({ ms, most }) => Math.abs(distance) < ms * most) ?? DISTANCES[3];
  return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.round(distance / step.ms), step.unit);
}

interface Place {
  nowMs: number;
  timeZone: string;
  locale?: string | undefined;
}

/** The local time in a zone: `today 17:30`, `tomorrow 09:00`, other days with the date. Zero seconds are left out. */
export function toClock(atMs: number, { nowMs, timeZone, locale }: Place): string {
  const dayOf = (ms: number) => new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(ms);
  const format = (fields: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone, ...fields }).format(atMs);
  const seconds = atMs % MINUTE_MS === 0 ? undefined : '2-digit';
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: seconds, hourCycle: 'h23' };
  if (dayOf(atMs) === dayOf(nowMs)) return `today ${format(time)}`;
  if (dayOf(atMs) === dayOf(nowMs + DAY_MS)) return `tomorrow ${format(time)}`;
  const isFar = Math.abs(atMs - nowMs) > 300 * DAY_MS;
  return format({ weekday: 'short', month: 'short', day: 'numeric', ...(isFar && { year: 'numeric' }), ...time });
}

/** The remaining time as minutes and seconds: `4:32`. */
export function toCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.floor(leftMs / SECOND_MS));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** A duration: `340 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function toLength(ms: number): string {
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  const [large, largeWord, small, smallWord] =
    ms < HOUR_MS ? [MINUTE_MS, 'min', SECOND_MS, 's'] : [HOUR_MS, 'h', MINUTE_MS, 'min'];
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeWord}${rest === 0 ? '' : ` ${rest} ${smallWord}`}`;
}
