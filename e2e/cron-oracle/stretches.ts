import type { Stretch } from './compare.ts';
import { drawer } from './expressions.ts';
import { readZone, type ZoneTable } from './zone-table.ts';

/** The periods of each zone that are compared with the oracle. */

const DAY_MS = 86_400_000;
const FROM_MS = Date.UTC(2020, 0, 1);
const TO_MS = Date.UTC(2041, 0, 1);

export const readZones = (names: readonly string[]): ZoneTable[] =>
  names.map((tz) => readZone(tz, FROM_MS - 10 * DAY_MS, TO_MS + 10 * DAY_MS));

/** Two days before and after every change from 2020 to the end of 2040. */
export function stretchesAroundChanges(tables: readonly ZoneTable[]): Stretch[] {
  return tables.flatMap((table) =>
    table.changes.slice(1).map(({ atMs }) => ({
      table,
      fromMs: toMinute(atMs) - 2 * DAY_MS,
      toMs: toMinute(atMs) + 2 * DAY_MS,
      aroundMs: atMs,
    })),
  );
}

/** The same `count` random days of those years, in every zone. */
export function stretchesOfDays(tables: readonly ZoneTable[], count: number, seed: number): Stretch[] {
  const draw = drawer(seed);
  const days = Array.from({ length: count }, () => FROM_MS + draw((TO_MS - FROM_MS) / DAY_MS) * DAY_MS);
  return tables.flatMap((table) =>
    days.map((fromMs) => ({ table, fromMs, toMs: fromMs + DAY_MS, aroundMs: fromMs + DAY_MS / 2 })),
  );
}

/**
 * One period for all zones with the same offsets from a day and a half before it to a day and a half
 * after it: answers can differ only where the offsets do, and offsets are compared for every zone.
 */
export function withoutTwins(stretches: readonly Stretch[]): Stretch[] {
  const seen = new Map(stretches.map((stretch) => [toKey(stretch), stretch]));
  return [...seen.values()];
}

function toKey({ table, fromMs, toMs }: Stretch): string {
  const inside = table.changes.filter(({ atMs }) => atMs > fromMs - 1.5 * DAY_MS && atMs < toMs + 1.5 * DAY_MS);
  const before = table.changes.findLast(({ atMs }) => atMs <= fromMs - 1.5 * DAY_MS);
  return [fromMs, before?.offsetMs, ...inside.flatMap(({ atMs, offsetMs }) => [atMs, offsetMs])].join(' ');
}

function toMinute(atMs: number): number {
  return atMs - (atMs % 60_000);
}
