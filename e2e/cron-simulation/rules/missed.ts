import type { CronOccurrenceTable } from '../../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence, CronFinding, CronWrite, Plan, Span } from '../evidence.ts';
import { FreeTime } from '../free-time.ts';
import { heldSpans } from '../held.ts';
import { type Grid, gridOf } from '../instants.ts';
import { gaps, longest, merged, shrunk, within } from '../spans.ts';
import { runsByJob, TimeLine } from '../time-line.ts';

/** If nothing prevented a run for this long before and after a due time, a scheduler had to notice it. */
const STEADY_MS = 61_000;

interface Surroundings {
  evidence: CronEvidence;
  line: TimeLine;
  free: FreeTime;
  /** When no job was prevented from running, and the wall clock ran normally. */
  steady: readonly Span[];
  /** By job: when it waited after errors. */
  held: ReadonlyMap<string, Span[]>;
  plans: ReadonlyMap<string, Plan[]>;
  /** By job and due time: the write that recorded the result. */
  ends: ReadonlyMap<string, CronWrite>;
}

export function* reallyMissed(evidence: CronEvidence): Iterable<CronFinding> {
  const surroundings = surroundingsOf(evidence);
  for (const row of evidence.occurrences) {
    if (row.status !== 'missed') continue;
    const lie = lieOfClaimed(row, surroundings) ?? lieOfAny(row, surroundings);
    if (lie) yield { jobId: row.job_id, what: `${new Date(row.scheduled_ms).toISOString()} was missed, ${lie}` };
  }
}

function surroundingsOf(evidence: CronEvidence): Surroundings {
  const line = new TimeLine(evidence);
  const free = new FreeTime(evidence);
  const ends = evidence.writes.filter(({ what }) => what === 'settle' || what === 'end');
  const steps = evidence.wallSteps.map(({ trueMs }, index, { [index + 1]: next }) => ({
    fromMs: trueMs,
    toMs: next?.trueMs ?? evidence.endTrueMs,
  }));
  const busy = merged([...free.nobody, ...free.blocked]);
  const heldOf = ([jobId, runs]: [string, Parameters<typeof heldSpans>[0]]): [string, Span[]] => [
    jobId,
    heldSpans(runs, line, evidence.endTrueMs),
  ];
  return {
    ...{ evidence, line, free },
    steady: steps.flatMap((step) => shrunk(gaps(busy, step), STEADY_MS)),
    held: new Map([...runsByJob(evidence.runs)].map(heldOf)),
    plans: Map.groupBy(evidence.plans, ({ jobId }) => jobId),
    ends: new Map(ends.map((write) => [keyOf(write.jobId, write.scheduledMs), write])),
  };
}

const keyOf = (jobId: string, atMs: number): string => `${jobId} ${atMs}`;

/** Whether it had been claimed before. */
function lieOfClaimed({ job_id, scheduled_ms }: CronOccurrenceTable, { free, ends }: Surroundings) {
  const end = ends.get(keyOf(job_id, scheduled_ms));
  if (end?.what !== 'end') return undefined;
  const ofJob = free.episodesOf(job_id);
  const episode = ofJob.findLast((one) => one.scheduledMs === scheduled_ms && one.toMs === end.atMs);
  const waitedMs = episode ? longest(free.windows({ jobId: job_id, episode }, episode)) : 0;
  return waitedMs > STEADY_MS ? 'although the process with the claim could have started it' : undefined;
}

/** Whether one of its due times came, perhaps again, while a scheduler could run it. */
function lieOfAny(row: CronOccurrenceTable, surroundings: Surroundings): string | undefined {
  for (const plan of surroundings.plans.get(row.job_id) ?? []) {
    const atMs = couldHaveRun(row, plan, surroundings);
    if (atMs !== undefined) return `although nothing prevented the run of ${new Date(atMs).toISOString()}`;
  }
  return undefined;
}

function couldHaveRun(row: CronOccurrenceTable, plan: Plan, surroundings: Surroundings): number | undefined {
  const { steady, line, evidence } = surroundings;
  const wanted = { fromMs: plan.madeMs, toMs: Math.min(plan.overMs ?? evidence.endTrueMs, doneMs(plan, evidence)) };
  const grid = gridOf(plan.schedule);
  const found = (span: Span) => instantIn(row, grid, wallSpan(span, line));
  for (const span of within(steady, wanted)) {
    if (found(span) === undefined) continue;
    const left = unhindered(row.job_id, { span, wanted }, surroundings).find((one) => found(one) !== undefined);
    if (left) return found(left);
  }
  return undefined;
}

/** When its only due time was replaced by a manual run. */
function doneMs({ jobId, schedule, madeMs }: Plan, { runs }: CronEvidence): number {
  if (schedule.kind !== 'at') return Number.POSITIVE_INFINITY;
  const done = runs.filter((run) => run.jobId === jobId && run.trigger === 'forced' && run.outcome === 'ok');
  return Math.min(...done.map(({ endMs }) => endMs ?? Number.POSITIVE_INFINITY).filter((endMs) => endMs >= madeMs));
}

/** When the job, too, could run: it was enabled, not running and not waiting after errors. */
function unhindered(
  jobId: string,
  { span, wanted }: { span: Span; wanted: Span },
  { free, held }: Surroundings,
): Span[] {
  const around = {
    fromMs: Math.max(wanted.fromMs, span.fromMs - STEADY_MS),
    toMs: Math.min(wanted.toMs, span.toMs + STEADY_MS),
  };
  const inItsWay = [...free.episodesOf(jobId), ...(held.get(jobId) ?? [])].filter(
    ({ fromMs, toMs }) => fromMs < around.toMs && toMs > around.fromMs,
  );
  return shrunk(gaps(merged(inItsWay), around), STEADY_MS);
}

const wallSpan = ({ fromMs, toMs }: Span, line: TimeLine): Span => {
  const offsetMs = line.wallAt(fromMs) - fromMs;
  return { fromMs: fromMs + offsetMs, toMs: toMs + offsetMs };
};

/** The first due time that the row covers, in wall-clock time. */
function instantIn(row: CronOccurrenceTable, grid: Grid, wall: Span): number | undefined {
  const [fromMs, toMs] = [Math.max(row.scheduled_ms, wall.fromMs), Math.min(row.through_ms, wall.toMs)];
  if (fromMs > toMs) return undefined;
  const atMs = grid.next(fromMs - 1);
  return atMs !== undefined && atMs <= toMs ? atMs : undefined;
}
