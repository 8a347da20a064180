import type { CronEvidence, CronFinding, CronWrite, SimRun } from '../evidence.ts';
import { atOnce, FreeTime, type Hold, holds } from '../free-time.ts';
import { holdDelayMs, retryDelayMs } from '../held.ts';
import { gaps, merged, sum } from '../spans.ts';
import { notedMs, runsByJob } from '../time-line.ts';

/** Timers are exact here. */
const SLACK_MS = 1_000;
/** How long a process works before it records the time used. */
const UNNOTED_MS = 25_000;

const nameOf = ({ scheduledMs, attempt }: SimRun): string =>
  `attempt ${attempt} of ${new Date(scheduledMs).toISOString()}`;

export function* neverTooMany(evidence: CronEvidence): Iterable<CronFinding> {
  const { maxConcurrentRuns } = evidence;
  for (const [owner, ofOwner] of Map.groupBy(holds(evidence), (hold) => hold.owner)) {
    const most = atOnce(ofOwner.map(working)).sort((a, b) => b.count - a.count)[0];
    if (most && most.count > maxConcurrentRuns) {
      yield { jobId: ofOwner[0]?.run.jobId ?? '', what: `${owner} had ${most.count} runs at ${most.fromMs}` };
    }
  }
}

/** Until another process took over. */
function working({ run, owner, fromMs, toMs }: Hold) {
  const next = run.holds.find((hold) => hold.owner !== owner && hold.fromMs >= fromMs);
  return { fromMs, toMs: Math.min(toMs, next?.fromMs ?? toMs) };
}

/**
 * Time does not count while the machine or the process stands still, or while no process works on the run. Time that
 * a process had not recorded when it died is lost.
 */
export function* stoppedInTime(evidence: CronEvidence): Iterable<CronFinding> {
  const free = new FreeTime(evidence);
  const asleep = evidence.blocked.filter(({ why }) => why === 'the machine sleeps');
  const starts = Map.groupBy(
    evidence.writes.filter(({ what }) => what === 'start'),
    ({ jobId }) => jobId,
  );
  const unnoted = evidence.blocked.filter(({ why }) => why === 'the store takes no writes');
  for (const [run, ofRun] of Map.groupBy(holds(evidence), (hold) => hold.run)) {
    const restarts = ofRun.length - 1;
    const still = restarts > 0 ? [...asleep, ...unnoted] : asleep;
    const workedMs = ofRun.reduce((ms, hold) => {
      const worked = working(hold);
      const toMs = Math.min(worked.toMs, run.endMs ?? evidence.endTrueMs);
      return ms + sum(gaps(merged([...free.awayOf(hold.owner), ...still]), { ...worked, toMs }));
    }, 0);
    if (workedMs > run.maxRunMs + SLACK_MS + restarts * UNNOTED_MS) {
      yield { jobId: run.jobId, what: `${nameOf(run)} went on for ${Math.round(workedMs / 1000)} s` };
    }
    // A process that is stopped between the record of a start and the work uses up the time of the run.
    const recordedMs = starts.get(run.jobId)?.findLast((start) => isOf(run, start))?.atMs ?? 0;
    const stoppedMs = (run.stoppedMs ?? Number.POSITIVE_INFINITY) - recordedMs;
    if (stoppedMs < run.maxRunMs - restarts * UNNOTED_MS) {
      yield { jobId: run.jobId, what: `${nameOf(run)} was stopped after ${Math.round(stoppedMs / 1000)} s` };
    }
  }
}

const isOf = ({ scheduledMs, startMs = 0 }: SimRun, start: CronWrite): boolean =>
  start.scheduledMs === scheduledMs && start.atMs <= startMs;

/** Only where the clock was not set meanwhile; errors before a change of the job do not count. */
export function* leftAlone({ runs, asked, wallSteps }: CronEvidence): Iterable<CronFinding> {
  const askedOf = Map.groupBy(asked, ({ jobId }) => jobId);
  for (const [jobId, ofJob] of runsByJob(runs)) {
    for (const [index, run] of ofJob.entries()) {
      const startMs = run.startMs ?? 0;
      const touchedMs = askedOf.get(jobId)?.findLast(({ atMs }) => atMs <= startMs)?.atMs ?? 0;
      const errors = errorsBefore(ofJob, index).filter((error) => (error.startMs ?? 0) > touchedMs);
      const waitMs = waitAfter(errors, run);
      const [endMs, sinceMs] = errors.slice(-1).flatMap((last) => [last.endMs ?? 0, notedMs(last)]);
      const waitedMs = startMs - (endMs ?? 0);
      const isSteady = !wallSteps.some(({ trueMs }) => trueMs >= (sinceMs ?? 0) && trueMs <= startMs);
      if (!isSteady || waitedMs >= waitMs) continue;
      yield { jobId, what: `${nameOf(run)} started ${waitedMs} ms after an error, not ${waitMs}` };
    }
  }
}

function waitAfter(errors: readonly SimRun[], { scheduledMs, trigger }: SimRun): number {
  const last = errors.at(-1);
  if (!last || trigger === 'forced') return 0;
  return last.scheduledMs === scheduledMs ? retryDelayMs(last.attempt) : holdDelayMs(errors.length);
}

/** The number of errors after which the wait no longer grows. */
const MANY = 10;

/** Consecutive errors. */
function errorsBefore(runs: readonly SimRun[], index: number): SimRun[] {
  const before = runs.slice(Math.max(0, index - MANY), index);
  return before.slice(before.findLastIndex(({ outcome, endMs }) => outcome === 'ok' || endMs === undefined) + 1);
}
