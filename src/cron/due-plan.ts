import type { CronMisfire } from '../../protocol/cron.ts';
import { freeBetween, type Instants, MAX_ALL } from './instants.ts';
import type { Job } from './job.ts';
import { nextOf } from './next-of.ts';
import type { Settled } from './occurrence.ts';

/** What becomes of the instants of a job that have passed. */
export interface DuePlan {
  /** Nothing runs for these. */
  settled: Settled[];
  /** The one that is to run now. */
  runMs: number | undefined;
  /** The first instant that is not dealt with. */
  nextMs: number | undefined;
  /** The last one that is. */
  handledMs: number;
}

type DueJob = Job & { nextMs: number };

/** An instant that is noticed no later than this was noticed in time: timers are late, processes start. */
const IN_TIME_MS = 60_000;

/**
 * By the job's misfire policy; `why` says, for the record, why instants passed without being noticed. `taken` have their
 * record already: they ran before the clock was set back.
 */
export function planDue(
  job: DueJob,
  { nowMs, why, taken }: { nowMs: number; why: string; taken: ReadonlySet<number> },
): DuePlan {
  const held = job.holdMs === undefined ? undefined : planHeld(job, Math.min(nowMs, job.holdMs - 1), taken);
  if (held) return held;
  const pieces = freeBetween(job.schedule, { fromMs: job.nextMs, untilMs: nowMs, taken });
  const latest = pieces.flatMap((piece) => piece.latest);
  const [runMs, following] = chosen(job.misfire, latest, nowMs);
  const reason = runMs === undefined ? `${why}; ${tooLate(job.misfire)}` : `${why}; a later instant was run instead`;
  return {
    settled: pieces.flatMap((piece) => toSettled(piece, { before: runMs, status: 'missed', reason })),
    runMs,
    nextMs: following ?? firstFree(job, nowMs, taken),
    handledMs: runMs ?? latest.at(-1) ?? job.nextMs,
  };
}

/** Instants that came while the job could not run anyway; undefined when there are none until then. */
export function planSkipped(
  job: DueJob,
  { untilMs, reason, taken }: { untilMs: number; reason: string; taken: ReadonlySet<number> },
): Omit<DuePlan, 'runMs'> | undefined {
  if (job.nextMs > untilMs) return undefined;
  const pieces = freeBetween(job.schedule, { fromMs: job.nextMs, untilMs, taken });
  return {
    settled: pieces.flatMap((piece) => toSettled(piece, { before: undefined, status: 'skipped', reason })),
    nextMs: firstFree(job, untilMs, taken),
    handledMs: pieces.at(-1)?.latest.at(-1) ?? job.nextMs,
  };
}

/** The first instant after a time that has no record. */
export function firstFree(
  { schedule }: Pick<Job, 'schedule'>,
  afterMs: number,
  taken: ReadonlySet<number>,
): number | undefined {
  let next = nextOf(schedule, afterMs);
  while (next !== undefined && taken.has(next)) next = nextOf(schedule, next);
  return next;
}

/** Why an occurrence that was claimed and never begun is not to run any more; undefined when it is. */
export const whyTooLate = (misfire: CronMisfire, scheduledMs: number, nowMs: number): string | undefined =>
  misfire === 'all' || isInTime(misfire, scheduledMs, nowMs) ? undefined : tooLate(misfire);

function planHeld(job: DueJob, untilMs: number, taken: ReadonlySet<number>): DuePlan | undefined {
  const plan = planSkipped(job, { untilMs, reason: `left alone after ${job.failures} errors in a row`, taken });
  return plan && { ...plan, runMs: undefined };
}

/** The instants that the policy wants run, ascending. */
function chosen(misfire: CronMisfire, latest: readonly number[], nowMs: number): readonly number[] {
  if (misfire === 'all') return latest.slice(-MAX_ALL);
  const last = latest.at(-1);
  return last !== undefined && isInTime(misfire, last, nowMs) ? [last] : [];
}

function isInTime(misfire: Exclude<CronMisfire, 'all'>, atMs: number, nowMs: number): boolean {
  const limitMs = misfire === 'once' ? Number.POSITIVE_INFINITY : misfire === 'skip' ? 0 : misfire.within;
  return nowMs - atMs <= Math.max(IN_TIME_MS, limitMs);
}

function tooLate(misfire: CronMisfire): string {
  if (typeof misfire !== 'object') return `its policy skips what is over ${IN_TIME_MS / 1000} s late`;
  return `by then it was more than ${Math.max(IN_TIME_MS, misfire.within) / 1000} s late`;
}

/** One record for each where they are known, else one for all. */
function toSettled(
  { latest, firstMs, count }: Instants,
  { before, status, reason }: { before: number | undefined } & Pick<Settled, 'status' | 'reason'>,
): Settled[] {
  const left = before === undefined ? latest : latest.filter((at) => at < before);
  if (count === latest.length) return left.map((at) => ({ fromMs: at, throughMs: at, count: 1, status, reason }));
  const throughMs = left.at(-1);
  if (throughMs === undefined) return []; // all of it comes later
  // How many lie between is known only where they could be counted.
  const counted = count === undefined ? undefined : count - (latest.length - left.length);
  return [{ fromMs: firstMs, throughMs, count: counted, status, reason }];
}
