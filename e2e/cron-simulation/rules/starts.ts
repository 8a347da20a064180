import type { CronEvidence, CronFinding, Plan, SimRun } from '../evidence.ts';
import { runsByJob, startedOf, TimeLine } from '../time-line.ts';

const MAX_LATE_MS = 61_000;
const FIRST_HOLD_MS = 30_000;
const MAX_HOLD_MS = 3_600_000;
const MAX_TRIES = 5;

const nameOf = ({ scheduledMs, attempt }: SimRun): string =>
  `attempt ${attempt} of ${new Date(scheduledMs).toISOString()}`;

export function* oneStart({ runs }: CronEvidence): Iterable<CronFinding> {
  for (const some of Map.groupBy(startedOf(runs), (run) => `${run.jobId} ${nameOf(run)}`).values()) {
    const [first] = some;
    if (first && some.length > 1) yield { jobId: first.jobId, what: `${nameOf(first)} started ${some.length} times` };
  }
}

export function* triedAgainAfterErrors({ runs }: CronEvidence): Iterable<CronFinding> {
  for (const tries of Map.groupBy(startedOf(runs), ({ jobId, scheduledMs }) => `${jobId} ${scheduledMs}`).values()) {
    for (const [before, run] of neighbours(tries)) {
      const isAfterError = before.outcome === 'error' && endOf(before) <= startOf(run);
      if (isAfterError && run.trigger === 'schedule' && run.attempt <= MAX_TRIES) continue;
      yield { jobId: run.jobId, what: `${nameOf(run)} follows one that was no error, or is one too many` };
    }
  }
}

export function* neverTwoAtOnce({ runs }: CronEvidence): Iterable<CronFinding> {
  for (const [jobId, ofJob] of runsByJob(runs)) {
    for (const [before, run] of neighbours(ofJob)) {
      if (endOf(before) > startOf(run)) yield { jobId, what: `${nameOf(run)} began while ${nameOf(before)} was going` };
    }
  }
}

/** First attempts of what was scheduled: not before the clock came to it, and at most a minute after nothing held it up. */
export function* inTime(evidence: CronEvidence): Iterable<CronFinding> {
  const line = new TimeLine(evidence);
  for (const [jobId, ofJob] of runsByJob(evidence.runs)) {
    const plans = evidence.plans.filter((plan) => plan.jobId === jobId);
    for (const [index, run] of ofJob.entries()) {
      const isFirst = run.trigger === 'schedule' && run.attempt === 1;
      const wrong = isFirst && wrongTime(run, { line, before: ofJob.slice(0, index), plans, evidence });
      if (wrong) yield { jobId, what: `${nameOf(run)} started ${wrong}` };
    }
  }
}

function wrongTime(run: SimRun, surroundings: Surroundings): string | undefined {
  const startMs = startOf(run);
  if (!surroundings.line.hasShown(run.scheduledMs, startMs)) return 'before it was due';
  const lateMs = startMs - possibleSince(run, surroundings);
  return lateMs > MAX_LATE_MS ? `${Math.round(lateMs / 1000)} s late` : undefined;
}

interface Surroundings {
  line: TimeLine;
  before: readonly SimRun[];
  plans: readonly Plan[];
  evidence: CronEvidence;
}

/** When nothing held the run up any more, in true time. */
function possibleSince(run: SimRun, { line, before, plans, evidence: { leaseMs } }: Surroundings): number {
  const startMs = startOf(run);
  const made = plans.map(({ madeMs }) => madeMs).filter((madeMs) => madeMs <= startMs);
  return Math.max(
    line.reached(run.scheduledMs, startMs),
    line.freeSince(run.holds[0]?.owner ?? run.owner, startMs),
    leaseMs === 0 ? 0 : line.lastDeath(startMs) + leaseMs,
    before.at(-1)?.endMs ?? 0,
    heldUntil(before, { line, startMs }),
    ...made,
  );
}

/** A job that failed several times in a row is left alone for a while. */
function heldUntil(before: readonly SimRun[], { line, startMs }: { line: TimeLine; startMs: number }): number {
  const failed = before.slice(before.findLastIndex(({ outcome }) => outcome === 'ok') + 1);
  const last = failed.at(-1);
  if (failed.length < 2 || last?.endMs === undefined) return 0;
  const holdMs = Math.min(MAX_HOLD_MS, FIRST_HOLD_MS * 2 ** (failed.length - 2));
  return line.reached(line.wallAt(last.endMs) + holdMs, startMs);
}

const startOf = ({ startMs }: SimRun): number => startMs ?? Number.POSITIVE_INFINITY;
const endOf = ({ endMs }: SimRun): number => endMs ?? Number.POSITIVE_INFINITY;

/** Each with the one before it. */
function* neighbours<T>(list: readonly T[]): Iterable<[T, T]> {
  let before: T | undefined;
  for (const one of list) {
    if (before !== undefined) yield [before, one];
    before = one;
  }
}
