import type { CronEvidence, CronFinding, Plan, SimRun } from '../evidence.ts';
import { FreeTime } from '../free-time.ts';
import { heldSpans, retryDelayMs } from '../held.ts';
import { longest } from '../spans.ts';
import { notedMs, runsByJob, startedOf, TimeLine } from '../time-line.ts';

const MAX_LATE_MS = 61_000;
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
      yield { jobId: run.jobId, what: `${nameOf(run)} does not follow an error, or exceeds the number of retries` };
    }
  }
}

export function* neverTwoAtOnce({ runs }: CronEvidence): Iterable<CronFinding> {
  for (const [jobId, ofJob] of runsByJob(runs)) {
    for (const [before, run] of neighbours(ofJob)) {
      if (endOf(before) > startOf(run))
        yield { jobId, what: `${nameOf(run)} started while ${nameOf(before)} was running` };
    }
  }
}

/** A run starts when the clock has reached its due time, and at most one minute after the last obstacle was gone. */
export function* inTime(evidence: CronEvidence): Iterable<CronFinding> {
  const line = new TimeLine(evidence);
  const free = new FreeTime(evidence);
  const plansOf = Map.groupBy(evidence.plans, ({ jobId }) => jobId);
  for (const [jobId, ofJob] of runsByJob(evidence.runs)) {
    const plans = plansOf.get(jobId) ?? [];
    for (const [index, run] of ofJob.entries()) {
      const wrong = wrongTime(run, { line, free, before: ofJob.slice(0, index), plans });
      if (wrong) yield { jobId, what: `${nameOf(run)} started ${wrong}` };
    }
  }
}

interface Surroundings {
  line: TimeLine;
  free: FreeTime;
  before: readonly SimRun[];
  plans: readonly Plan[];
}

function wrongTime(run: SimRun, surroundings: Surroundings): string | undefined {
  const { line, free, before } = surroundings;
  const startMs = startOf(run);
  if (run.trigger === 'schedule' && !line.hasShown(run.scheduledMs, startMs)) return 'before it was due';
  const since = { fromMs: wantedSince(run, surroundings), toMs: startMs };
  if (startMs - since.fromMs <= MAX_LATE_MS) return undefined;
  const held = run.trigger === 'schedule' ? heldSpans(before, line, startMs) : [];
  const late = longest(free.windows({ jobId: run.jobId, episode: free.episodeOf(run) }, since, held));
  return late > MAX_LATE_MS ? `although it could have been ${Math.round(late / 1000)} s before` : undefined;
}

/** True time. */
function wantedSince(run: SimRun, { line, free, before, plans }: Surroundings): number {
  const startMs = startOf(run);
  if (run.trigger === 'forced') return free.episodeOf(run)?.fromMs ?? startMs;
  const tried = before.findLast(({ scheduledMs }) => scheduledMs === run.scheduledMs);
  if (tried) return line.reached(line.wallAt(notedMs(tried)) + retryDelayMs(tried.attempt), startMs);
  const made = plans.map(({ madeMs }) => madeMs).filter((madeMs) => madeMs <= startMs);
  return Math.max(line.reached(run.scheduledMs, startMs), ...made);
}

const startOf = ({ startMs }: SimRun): number => startMs ?? Number.POSITIVE_INFINITY;
const endOf = ({ endMs }: SimRun): number => endMs ?? Number.POSITIVE_INFINITY;

/** Each element with the previous one. */
function* neighbours<T>(list: readonly T[]): Iterable<[T, T]> {
  let before: T | undefined;
  for (const one of list) {
    if (before !== undefined) yield [before, one];
    before = one;
  }
}
