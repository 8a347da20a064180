import type { CronMisfire } from '../../protocol/cron.ts';
import type { Job } from './jobs/job.ts';
import { maxAll, whyTooLate } from './misfire.ts';
import type { Settled } from './occurrence.ts';
import { freeBetween, type Instants } from './schedule/instants.ts';
import { nextOf } from './schedule/next-of.ts';

/** How the passed instants of a job are handled. */
export interface DuePlan {
  /** Instants without a run. */
  settled: Settled[];
  /** The instant to run now. */
  runMs: number | undefined;
  /** The first instant that is not handled yet. */
  nextMs: number | undefined;
  /** The last instant that is handled. */
  handledMs: number;
}

type DueJob = Job & { nextMs: number };

/**
 * Applies the job's misfire policy. `why` goes into the records: why the instants passed unnoticed. `taken` instants
 * already have a record, because they ran before the clock was set back.
 */
export function planDue(
  job: DueJob,
  { nowMs, why, taken }: { nowMs: number; why: string; taken: ReadonlySet<number> },
): DuePlan {
  const held = job.holdMs === undefined ? undefined : planHeld(job, Math.min(nowMs, job.holdMs - 1), taken);
  if (held) return held;
  const span = { fromMs: job.nextMs, untilMs: nowMs, taken, wanted: maxAll(job.misfire) };
  const pieces = freeBetween(job.schedule, span);
  const latest = pieces.flatMap((piece) => piece.latest);
  const [runMs, following] = chosen(job.misfire, latest, nowMs);
  const tooLate = whyTooLate(job.misfire, job.nextMs, nowMs);
  const reason = `${why}; ${runMs === undefined ? tooLate : 'a later occurrence ran instead'}`;
  return {
    settled: pieces.flatMap((piece) => toSettled(piece, { before: runMs, status: 'missed', reason })),
    runMs,
    nextMs: following ?? firstFree(job, nowMs, taken),
    handledMs: runMs ?? latest.at(-1) ?? job.nextMs,
  };
}

/** Handles instants that passed while the job could not run anyway; undefined when there are none. */
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

/**
 * Handles instants that were due when their job was changed, and that it therefore no longer has; undefined when there
 * are none.
 */
export function planGivenUp(
  job: DueJob,
  { untilMs, reason, taken }: { untilMs: number; reason: string; taken: ReadonlySet<number> },
): Pick<DuePlan, 'settled' | 'handledMs'> | undefined {
  const held = job.holdMs === undefined ? undefined : planHeld(job, Math.min(untilMs, job.holdMs - 1), taken);
  if (!held) return planSkipped(job, { untilMs, reason, taken });
  const { nextMs } = held;
  const rest = nextMs === undefined ? undefined : planSkipped({ ...job, nextMs }, { untilMs, reason, taken });
  return rest ? { ...rest, settled: [...held.settled, ...rest.settled] } : held;
}

/** The first instant after `afterMs` without a record. */
export function firstFree(
  { schedule }: Pick<Job, 'schedule'>,
  afterMs: number,
  taken: ReadonlySet<number>,
): number | undefined {
  let next = nextOf(schedule, afterMs);
  while (next !== undefined && taken.has(next)) next = nextOf(schedule, next);
  return next;
}

function planHeld(job: DueJob, untilMs: number, taken: ReadonlySet<number>): DuePlan | undefined {
  const plan = planSkipped(job, { untilMs, reason: `paused after ${job.failures} errors in a row`, taken });
  return plan && { ...plan, runMs: undefined };
}

/** The instants that the policy runs, ascending. */
function chosen(misfire: CronMisfire, latest: readonly number[], nowMs: number): readonly number[] {
  const all = maxAll(misfire);
  if (all !== undefined) return latest.slice(-all);
  const last = latest.at(-1);
  return last !== undefined && whyTooLate(misfire, last, nowMs) === undefined ? [last] : [];
}

/** One record per instant where they are listed, otherwise one record for all. */
function toSettled(
  { latest, firstMs, count }: Instants,
  { before, status, reason }: { before: number | undefined } & Pick<Settled, 'status' | 'reason'>,
): Settled[] {
  const left = before === undefined ? latest : latest.filter((at) => at < before);
  if (count === latest.length) return left.map((at) => ({ fromMs: at, throughMs: at, count: 1, status, reason }));
  const throughMs = left.at(-1);
  if (throughMs === undefined) return []; // all of them come later
  // The number of instants in between is known only if they could be counted.
  const counted = count === undefined ? undefined : count - (latest.length - left.length);
  return [{ fromMs: firstMs, throughMs, count: counted, status, reason }];
}
