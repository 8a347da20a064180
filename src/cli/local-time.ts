import { toLocalTime } from '../cron/schedule/schedule-zone.ts';

/** The current time, and the time zone of the terminal. */
export interface Here {
  nowMs: number;
  tz: string;
}

/** `Thu 2026-12-24 18:00` in that time zone; with seconds only if they are not 0. */
export function toLocal(atMs: number, { tz }: Pick<Here, 'tz'>): string {
  const { local } = toLocalTime(tz, atMs);
  const weekday = new Intl.DateTimeFormat('en-US', { timeZone: tz, weekday: 'short' }).format(atMs);
  return `${weekday} ${local.replace('T', ' ').replace(/:00$/, '')}`;
}

/** The last moment that a date can hold in every time zone. */
const LAST_MS = 8.64e15 - 24 * 3_600_000;

/** `18:00`; `2026-12-24 18:00` on any other day than today. */
export function toClockTime(atMs: number, { nowMs, tz }: Here): string {
  if (atMs > LAST_MS) return 'at an unknown time'; // an imported message may have any number
  const [day = '', time = ''] = toLocalTime(tz, atMs).local.split('T');
  const isToday = toLocalTime(tz, nowMs).local.startsWith(day);
  return isToday ? time.slice(0, 5) : `${day} ${time.slice(0, 5)}`;
}

const STEPS = [
  { unit: 's', ms: 1_000, most: 90 },
  { unit: 'min', ms: 60_000, most: 90 },
  { unit: 'h', ms: 3_600_000, most: 36 },
  { unit: 'days', ms: 86_400_000, most: Number.POSITIVE_INFINITY },
] as const;

/** `in 3 h`, `5 min ago`. */
export function toDistance(atMs: number, nowMs: number): string {
  const distance = Math.abs(atMs - nowMs);
  const step = STEPS.find(({ ms, most }) => distance < ms * most) ?? STEPS[3];
  const size = `${Math.round(distance / step.ms)} ${step.unit}`;
  return atMs > nowMs ? `in ${size}` : `${size} ago`;
}

/** `340 ms`, `4.2 s`, `3 min 20 s`. */
export function toLength(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
