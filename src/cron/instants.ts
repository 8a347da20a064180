import type { CronSchedule } from '../../protocol/cron.ts';
import { nextOf } from './next-of.ts';
import { toPeriodMs } from './schedule.ts';

/** The instants of a schedule between two times, both included. */
export interface Instants {
  /** The latest of them, ascending; all of them where `count` is not larger. */
  latest: readonly number[];
  firstMs: number;
  /** Undefined: too many to count. */
  count: number | undefined;
}

/** How many instants are run one after the other at most, where all are wanted. */
export const MAX_ALL = 10;
/** More are not looked at one by one. */
const MAX_LISTED = 24;
/** How many of the latest are always known: those that may be run, and the last before them. */
const MIN_LATEST = MAX_ALL + 1;

/** The instants between two times that are not `taken`, in pieces that lie between the taken ones. */
export function freeBetween(
  schedule: CronSchedule,
  { fromMs, untilMs, taken }: { fromMs: number; untilMs: number; taken: ReadonlySet<number> },
): Instants[] {
  const pieces: Instants[] = [];
  let next: number | undefined = fromMs;
  for (const takenMs of [...taken].sort((a, b) => a - b)) {
    if (next === undefined || takenMs > untilMs) break;
    if (takenMs < next) continue;
    if (next < takenMs) pieces.push(instantsBetween(schedule, next, takenMs - 1));
    next = nextOf(schedule, takenMs);
  }
  if (next !== undefined && next <= untilMs) pieces.push(instantsBetween(schedule, next, untilMs));
  return pieces;
}

/** `fromMs` is an instant itself. Cheap however long ago that is. */
export function instantsBetween(schedule: CronSchedule, fromMs: number, untilMs: number): Instants {
  if (schedule.kind === 'every') return everyBetween(toPeriodMs(schedule.everyMs), fromMs, untilMs);
  const listed = list(schedule, { fromMs, untilMs, limit: MAX_LISTED + 1 });
  if (listed.length <= MAX_LISTED) return { latest: listed, firstMs: fromMs, count: listed.length };
  return { latest: latestBefore(schedule, fromMs, untilMs), firstMs: fromMs, count: undefined };
}

function everyBetween(everyMs: number, fromMs: number, untilMs: number): Instants {
  const count = Math.max(0, Math.floor((untilMs - fromMs) / everyMs) + 1);
  const known = Math.min(count, MAX_LISTED);
  const latest = Array.from({ length: known }, (_, index) => fromMs + (count - known + index) * everyMs);
  return { latest, firstMs: fromMs, count };
}

/** Looks back ever further until there are enough. */
function latestBefore(schedule: CronSchedule, fromMs: number, untilMs: number): number[] {
  for (let spanMs = 60_000; ; spanMs *= 4) {
    const sinceMs = Math.max(fromMs, untilMs - spanMs);
    const first = nextOf(schedule, sinceMs - 1);
    const found =
      first === undefined ? [] : list(schedule, { fromMs: first, untilMs, limit: Number.POSITIVE_INFINITY });
    if (found.length >= MIN_LATEST || sinceMs === fromMs) return found.slice(-MAX_LISTED);
  }
}

function list(
  schedule: CronSchedule,
  { fromMs, untilMs, limit }: { fromMs: number; untilMs: number; limit: number },
): number[] {
  const found: number[] = [];
  for (let at: number | undefined = fromMs; at !== undefined && at <= untilMs; at = nextOf(schedule, at)) {
    found.push(at);
    if (found.length === limit) break;
  }
  return found;
}
