import type { CronJobTable, CronOccurrenceTable } from '../../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence, CronFinding, SimRun } from '../evidence.ts';
import { type Grid, gridOf } from '../instants.ts';
import { runsByJob, TimeLine } from '../time-line.ts';

export function* attemptsMatch({ attempts, runs }: CronEvidence): Iterable<CronFinding> {
  const recorded = new Set(attempts.map(({ run_id }) => run_id));
  const known = new Set(runs.map(({ runId }) => runId));
  for (const { jobId, runId, startMs } of runs) {
    if (startMs !== undefined && !recorded.has(runId)) yield { jobId, what: `${runId} started, but is not recorded` };
  }
  for (const { job_id, run_id } of attempts) {
    if (!known.has(run_id ?? '')) yield { jobId: job_id, what: `${run_id} is recorded, but did not run` };
  }
}

export function* endsMatch({ occurrences, runs, jobs }: CronEvidence): Iterable<CronFinding> {
  const keyOf = (jobId: string, atMs: number, attempt: number) => `${jobId} ${atMs} ${attempt}`;
  const byKey = new Map(runs.map((run) => [keyOf(run.jobId, run.scheduledMs, run.attempt), run]));
  const isThere = new Set(jobs.map(({ job_id }) => job_id));
  for (const { job_id: jobId, scheduled_ms: atMs, attempts, status } of occurrences) {
    const run = byKey.get(keyOf(jobId, atMs, attempts));
    const isRight = status === 'ok' ? run?.outcome === 'ok' && run.endMs !== undefined : run?.outcome !== 'ok';
    const isLost = status === 'interrupted' && !isThere.has(jobId); // removed while it ran, and then its process died
    if (!isRight && !isLost) {
      yield { jobId, what: `${new Date(atMs).toISOString()} is ${status}, its run ${run?.outcome ?? 'never was'}` };
    }
  }
}

export function* jobsMatch(evidence: CronEvidence): Iterable<CronFinding> {
  const rowsOf = Map.groupBy(evidence.occurrences, ({ job_id }) => job_id);
  const runsOf = runsByJob(evidence.runs);
  const { endWallMs } = new TimeLine(evidence);
  for (const job of evidence.jobs) {
    const rows = rowsOf.get(job.job_id) ?? [];
    const { schedule } = JSON.parse(job.definition_json);
    const wrong = [
      job.enabled === 1
        ? wrongNext(job, { rows, grid: gridOf(schedule), isOnce: schedule.kind === 'at', endWallMs })
        : undefined,
      wrongLast(job, rows, runsOf.get(job.job_id) ?? []),
    ];
    for (const what of wrong) if (what !== undefined) yield { jobId: job.job_id, what };
  }
}

interface NextContext {
  rows: readonly CronOccurrenceTable[];
  grid: Grid;
  /** A one-time job. */
  isOnce: boolean;
  endWallMs: number;
}

/** The next due time is the first future one without a record. */
function wrongNext({ next_ms }: CronJobTable, { rows, grid, isOnce, endWallMs }: NextContext): string | undefined {
  const recorded = new Set(rows.map(({ scheduled_ms }) => scheduled_ms));
  if (isOnce && next_ms === null) return 'it has no next time, but is enabled';
  let next = grid.next(endWallMs);
  while (next !== undefined && recorded.has(next)) next = grid.next(next);
  const isRight = next_ms === (next ?? null) || (next_ms !== null && next_ms <= endWallMs && grid.has(next_ms));
  return isRight ? undefined : `next is ${next_ms}, not ${next}`;
}

/** The last result is that of the run that ended last, or of an occurrence given up after it. */
function wrongLast(
  { last_json, failures, hold_ms }: CronJobTable,
  rows: readonly CronOccurrenceTable[],
  runs: readonly SimRun[],
): string | undefined {
  const ended = runs.filter(({ endMs }) => endMs !== undefined).sort((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
  const run = ended.at(-1);
  if (last_json === null) return run ? 'it has run, but has no last result' : undefined;
  const last: { scheduledMs: number; status: string } = JSON.parse(last_json);
  const row = rows.find(({ scheduled_ms }) => scheduled_ms === last.scheduledMs);
  if (row?.status !== last.status) return `last is ${last.status}, its record ${row?.status}`;
  if (row.attempts > 0 && run?.scheduledMs !== last.scheduledMs)
    return `last belongs to ${last.scheduledMs}, not ${run?.scheduledMs}`;
  return last.status === 'ok' && (failures > 0 || hold_ms !== null)
    ? 'it waits for its backoff although its last run succeeded'
    : undefined;
}
