import type { CronOccurrenceTable } from '../../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence, CronFinding, Plan } from '../evidence.ts';
import { type Grid, gridOf } from '../instants.ts';
import { TimeLine } from '../time-line.ts';

/** Occurrences that came due in the last moments may not be recorded yet. */
const GRACE_MS = 60_000;

export function* covered(evidence: CronEvidence): Iterable<CronFinding> {
  const line = new TimeLine(evidence);
  for (const plan of evidence.plans) {
    const grid = gridOf(plan.schedule);
    const ofJob = evidence.occurrences.filter(({ job_id }) => job_id === plan.jobId);
    // An occurrence that was run by hand before its time is not due again.
    if (plan.schedule.kind === 'at' && ofJob.some(({ trigger, status }) => trigger === 'forced' && status === 'ok'))
      continue;
    const rows = ofJob.filter((row) => grid.has(row.scheduled_ms));
    for (const atMs of gaps(owedBy(plan, grid, line), rows, grid)) {
      yield { jobId: plan.jobId, what: `${new Date(atMs).toISOString()} was due, but has no record` };
    }
  }
}

interface Owed {
  firstMs: number | undefined;
  throughMs: number;
}

/**
 * A plan must cover all due times that the clock reached between its start and its end, unless the clock was set back before
 * one of them: then it is not due yet.
 */
function owedBy({ schedule, sinceMs, overMs }: Plan, grid: Grid, line: TimeLine): Owed {
  const firstMs = schedule.kind === 'at' ? schedule.atMs : grid.next(sinceMs);
  if (overMs === undefined) return { firstMs, throughMs: line.endWallMs - GRACE_MS };
  return { firstMs, throughMs: Math.min(line.setBackTo(overMs), line.wallAt(overMs)) };
}

/** The first due time of every stretch without records. */
function* gaps({ firstMs, throughMs }: Owed, rows: readonly CronOccurrenceTable[], grid: Grid): Iterable<number> {
  let next = firstMs;
  for (const row of rows) {
    if (next === undefined || next > throughMs) return;
    if (row.through_ms < next) continue;
    if (row.scheduled_ms > next) yield next;
    next = grid.next(row.through_ms);
  }
  if (next !== undefined && next <= throughMs) yield next;
}

export function* onePerInstant({ occurrences, plans }: CronEvidence): Iterable<CronFinding> {
  const grids = Map.groupBy(plans, ({ jobId }) => jobId);
  for (const [index, row] of occurrences.entries()) {
    const next = occurrences[index + 1];
    if (next?.job_id !== row.job_id || next.scheduled_ms > row.through_ms) continue;
    const isSame = grids.get(row.job_id)?.some(({ schedule }) => {
      const grid = gridOf(schedule);
      return grid.has(row.scheduled_ms) && grid.has(next.scheduled_ms);
    });
    if (isSame) yield { jobId: row.job_id, what: `${new Date(next.scheduled_ms).toISOString()} has two records` };
  }
}

export function* onInstants({ occurrences, plans }: CronEvidence): Iterable<CronFinding> {
  const byJob = Map.groupBy(plans, ({ jobId }) => jobId);
  for (const row of occurrences) {
    if (row.trigger === 'forced') continue;
    const isKnown = byJob.get(row.job_id)?.some(({ schedule }) => gridOf(schedule).has(row.scheduled_ms));
    if (!isKnown)
      yield { jobId: row.job_id, what: `${new Date(row.scheduled_ms).toISOString()} is not a due time of the job` };
  }
}
