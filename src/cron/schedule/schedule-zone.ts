/**
 * The wall clock of a time zone. `wallMs` is the time on that clock, as the milliseconds at which UTC shows the same
 * time. `atMs` is an instant in milliseconds since the Unix epoch.
 */

import { temporal } from '../../temporal.ts';

/** How often a wall time occurs: once, twice (the clock was set back) or never (the clock was set forward over it). */
export type Place =
  | { kind: 'once'; atMs: number }
  | { kind: 'twice'; firstMs: number; secondMs: number }
  | { kind: 'never'; gap: Transition };

/** A change of the offset from UTC: the first instant with the new offset, to the second. */
export interface Transition {
  atMs: number;
  fromOffsetMs: number;
  toOffsetMs: number;
}

export const DAY_MS = 86_400_000;

/**
 * The zone that `tz` names, or `hostTz` without a name; undefined for an unknown name. Keeps aliases (US/Eastern,
 * Asia/Kolkata) as written, accepts fixed offsets (+05:30), and ignores case.
 */
export function resolveTimeZone(tz: string | undefined, hostTz: string): string | undefined {
  const name = (tz ?? hostTz).trim();
  if (name.length > MAX_NAME_CHARS) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
}

/** The offset to add to UTC for the zone's wall time at `atMs`. The zone must exist. */
export function offsetMsAt(tz: string, atMs: number): number {
  const zone = zoneOf(tz);
  const known = zone.stretches.find(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs);
  if (known !== undefined) return known.offsetMs;
  const offsetMs = zone.askOffsetMs(atMs);
  const near = zone.stretches.find((stretch) => stretch.offsetMs === offsetMs && isNear(stretch, atMs));
  if (near === undefined) zone.stretches = [{ fromMs: atMs, toMs: atMs, offsetMs }, ...zone.stretches.slice(0, 3)];
  else {
    near.fromMs = Math.min(near.fromMs, atMs);
    near.toMs = Math.max(near.toMs, atMs);
  }
  return offsetMs;
}

export function toWallMs(tz: string, atMs: number): number {
  return atMs + offsetMsAt(tz, atMs);
}

/** The instants at which the zone's clock shows `wallMs`. The offset may change at most once within a day of it. */
export function placeWall(tz: string, wallMs: number): Place {
  const before = offsetMsAt(tz, wallMs - DAY_MS);
  const after = offsetMsAt(tz, wallMs + DAY_MS);
  if (before === after) return { kind: 'once', atMs: wallMs - before };
  const firstMs = wallMs - before;
  const secondMs = wallMs - after;
  const isFirst = offsetMsAt(tz, firstMs) === before;
  const isSecond = offsetMsAt(tz, secondMs) === after;
  if (isFirst && isSecond) return { kind: 'twice', firstMs, secondMs };
  if (isFirst || isSecond) return { kind: 'once', atMs: isFirst ? firstMs : secondMs };
  return { kind: 'never', gap: transitionBetween(tz, secondMs, firstMs) };
}

/** The change of the offset after `beforeMs` and up to `byMs`; there must be exactly one. */
export function transitionBetween(tz: string, beforeMs: number, byMs: number): Transition {
  const fromOffsetMs = offsetMsAt(tz, beforeMs);
  let [low, high] = [Math.floor(beforeMs / 1000), Math.ceil(byMs / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMsAt(tz, middle * 1000) === fromOffsetMs) low = middle;
    else high = middle;
  }
  return { atMs: high * 1000, fromOffsetMs, toOffsetMs: offsetMsAt(tz, high * 1000) };
}

/** `2026-12-24T18:00:00` and `+01:00`: the zone's wall time at `atMs`, and its offset from UTC. */
export function toLocalTime(tz: string, atMs: number): { local: string; offset: string } {
  const offsetMs = offsetMsAt(tz, atMs);
  return { local: new Date(atMs + offsetMs).toISOString().slice(0, -5), offset: toOffsetText(offsetMs) };
}

function toOffsetText(offsetMs: number): string {
  const time = new Date(Math.abs(offsetMs)).toISOString().slice(11, 19);
  return (offsetMs < 0 ? '-' : '+') + (time.endsWith(':00') ? time.slice(0, 5) : time);
}

const MAX_NAME_CHARS = 64;

/**
 * Caches the periods of a zone with a constant offset, because formatting a date is most of the cost of an occurrence.
 */
interface Zone {
  askOffsetMs(atMs: number): number;
  /** Newest first, at most four: one on each side of a change, and two for jobs that are far in the future. */
  stretches: Stretch[];
}

interface Stretch {
  fromMs: number;
  toMs: number;
  offsetMs: number;
}

const zones = new Map<string, Zone>();
const MAX_ZONES = 64;

/** Removes the oldest zone when there are too many. */
function zoneOf(tz: string): Zone {
  const known = zones.get(tz);
  if (known !== undefined) return known;
  const [oldest] = zones.keys();
  if (oldest !== undefined && zones.size >= MAX_ZONES) zones.delete(oldest);
  const zone = {
    askOffsetMs: temporal ? byTemporal(tz, temporal) : byFormat(tz),
    stretches: [],
  };
  zones.set(tz, zone);
  return zone;
}

/** No zone changes its offset and back within two days; `npm run cron-oracle` would find one. */
function isNear({ fromMs, toMs }: Stretch, atMs: number): boolean {
  return atMs >= fromMs - 2 * DAY_MS && atMs <= toMs + 2 * DAY_MS;
}

const byTemporal =
  (tz: string, { Instant }: NonNullable<typeof temporal>) =>
  (atMs: number): number =>
    Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(tz).offsetNanoseconds / 1e6;

/** Exported for its tests: it is used by Node before 26 only. */
export function byFormat(tz: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: 'longOffset' });
  return (atMs) => {
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(atMs)) ?? [];
    const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -size : size;
  };
}
