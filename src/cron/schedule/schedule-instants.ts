import type { Calendar } from './schedule-calendar.ts';
import { DAY_MS, type Place, placeWall, toWallMs, transitionBetween } from './schedule-zone.ts';

/** Converts wall times of a calendar to instants in a zone, by decision 32. */

/** The first occurrence after `afterMs`; undefined when there is none before the year 3000. */
export function nextInstant(calendar: Calendar, tz: string, afterMs: number): number | undefined {
  const wallMs = toWallMs(tz, afterMs);
  const hour = repeatedHour(tz, placeWall(tz, wallMs));
  if (hour === undefined) return firstAfter(calendar, tz, { afterMs, wallMs });
  if (calendar.isFixedTime) {
    // Intervals do not fire in the second pass of a repeated hour, where the wall clock repeats times.
    return firstAfter(calendar, tz, { afterMs, wallMs: afterMs < hour.changeMs ? wallMs : hour.toWallMs - 1 });
  }
  const nextWallMs = calendar.nextAfter(wallMs);
  if (afterMs < hour.changeMs && !(nextWallMs !== undefined && nextWallMs < hour.toWallMs)) {
    const repeatedMs = calendar.nextAfter(hour.fromWallMs - 1);
    if (repeatedMs !== undefined && repeatedMs < hour.toWallMs) return hour.changeMs + repeatedMs - hour.fromWallMs;
  }
  return firstAfter(calendar, tz, { afterMs, wallMs });
}

/**
 * If this many consecutive times all fall into gaps (which come once or twice a year), the expression counts as never
 * firing.
 */
const MAX_GAPS = 60;

function firstAfter(calendar: Calendar, tz: string, from: { afterMs: number; wallMs: number }): number | undefined {
  let { wallMs } = from;
  for (let gaps = 0; gaps < MAX_GAPS; gaps += 1) {
    const nextMs = calendar.nextAfter(wallMs);
    if (nextMs === undefined) return undefined;
    const place = placeWall(tz, nextMs);
    const atMs = instantOf(place, calendar.isFixedTime, from.afterMs);
    if (atMs !== undefined) return atMs;
    if (place.kind === 'never') wallMs = place.gap.atMs + place.gap.toOffsetMs - 1;
  }
  return undefined;
}

/** The instant after `afterMs` for a wall time; undefined when the clock skips that time and so does the job. */
function instantOf(place: Place, isFixedTime: boolean, afterMs: number): number | undefined {
  if (place.kind === 'once') return place.atMs;
  if (place.kind === 'twice') return place.firstMs > afterMs ? place.firstMs : place.secondMs;
  const { atMs, fromOffsetMs, toOffsetMs } = place.gap;
  return isFixedTime && toOffsetMs - fromOffsetMs < DAY_MS ? atMs : undefined;
}

/**
 * The repeated hour after the clock is set back: its first wall time, the first wall time after it, and the moment of
 * the change.
 */
function repeatedHour(
  tz: string,
  place: Place,
): { fromWallMs: number; toWallMs: number; changeMs: number } | undefined {
  if (place.kind !== 'twice') return undefined;
  const change = transitionBetween(tz, place.firstMs, place.secondMs);
  return {
    changeMs: change.atMs,
    fromWallMs: change.atMs + change.toOffsetMs,
    toWallMs: change.atMs + change.fromOffsetMs,
  };
}
