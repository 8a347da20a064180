import type { CronSchedule } from '../../../protocol/cron.ts';
import { nextOf } from './next-of.ts';
import { toPeriodMs } from './schedule.ts';

/** The instants of a schedule between two times, both inclusive. */
export interface Instants {
  /** The latest instants, ascending; all of them unless `count` is larger. */
  latest: readonly number[];
  firstMs: number;
  /** Undefined: too many to count. */
  count: number | undefined;
}

/** A period, both ends inclusive. */
interface Span {
  fromMs: number;
  untilMs: number;
  /** How many of the latest instants may run. They, and the one before them, are always listed. */
  wanted?: number | undefined;
}

/** At most this many instants are listed, unless more are wanted. */
const MAX_LISTED = 24;

/** The instants between two times that are not `taken`, one piece per gap between taken instants. */
export function freeBetween(
  schedule: CronSchedule,
  { fromMs, untilMs, wanted, taken }: Span & { taken: ReadonlySet<number> },
): Instants[] {
  const pieces: Instants[] = [];
  let next: number | undefined = fromMs;
  for (const takenMs of [...taken].sort((a, b) => a - b)) {
    if (next === undefined || takenMs > untilMs) break;
    if (takenMs < next) continue;
    if (next < takenMs) pieces.push(instantsBetween(schedule, { fromMs: next, untilMs: takenMs - 1, wanted }));
    next = nextOf(schedule, takenMs);
  }
  if (next !== undefined && next <= untilMs) pieces.push(instantsBetween(schedule, { fromMs: next, untilMs, wanted }));
  return pieces;
}

/** `fromMs` must be an instant. Cheap however long ago it is. */
export function instantsBetween(schedule: CronSchedule, { fromMs, untilMs, wanted = 1 }: Span): Instants {
  const known = { fromMs, untilMs, limit: Math.max(MAX_LISTED, wanted + 1) };
  if (schedule.kind === 'every') return everyBetween(toPeriodMs(schedule.everyMs), known);
  const listed = list(schedule, { ...known, limit: known.limit + 1 });
  if (listed.length <= known.limit) return { latest: listed, firstMs: fromMs, count: listed.length };
  return { latest: latestBefore(schedule, known, wanted + 1), firstMs: fromMs, count: undefined };
}

function everyBetween(everyMs: number, { fromMs, untilMs, limit }: Listing): Instants {
  const count = Math.max(0, Math.floor((untilMs - fromMs) / everyMs) + 1);
  const known = Math.min(count, limit);
  const latest = Array.from({ length: known }, (_, index) => fromMs + (count - known + index) * everyMs);
  return { latest, firstMs: fromMs, count };
}

/** Looks back over growing periods until enough instants are found. */
function latestBefore(schedule: CronSchedule, { fromMs, untilMs, limit }: Listing, enough: number): number[] {
  for (let spanMs = 60_000; ; spanMs *= 4) {
    const sinceMs = Math.max(fromMs, untilMs - spanMs);
    const first = nextOf(schedule, sinceMs - 1);
    const found =
      first === undefined ? [] : list(schedule, { fromMs: first, untilMs, limit: Number.POSITIVE_INFINITY });
    if (found.length >= enough || sinceMs === fromMs) return found.slice(-limit);
  }
}

interface Listing {
  fromMs: number;
  untilMs: number;
  limit: number;
}

function list(schedule: CronSchedule, { fromMs, untilMs, limit }: Listing): number[] {
  const found: number[] = [];
  for (let at: number | undefined = fromMs; at !== undefined && at <= untilMs; at = nextOf(schedule, at)) {
    found.push(at);
    if (found.length === limit) break;
  }
  return found;
}
