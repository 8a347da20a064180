import type { CronOccurrenceTable } from '../../../src/gateway/store/schema/cron-schema.ts';
import type { CronEvidence, CronFinding, Plan } from '../evidence.ts';
import { gridOf } from '../instants.ts';

const TERMINAL = new Set(['ok', 'error', 'skipped', 'missed', 'interrupted']);
const IN_TIME_MS = 60_000;

export function* allOver({ occurrences }: CronEvidence): Iterable<CronFinding> {
  for (const { job_id, scheduled_ms, status, ended_ms } of occurrences) {
    if (TERMINAL.has(status) && ended_ms !== null) continue;
    yield { jobId: job_id, what: `${new Date(scheduled_ms).toISOString()} is still ${status}` };
  }
}

export function* reasons({ occurrences, plans }: CronEvidence): Iterable<CronFinding> {
  const rowsOf = Map.groupBy(occurrences, ({ job_id }) => job_id);
  const plansOf = Map.groupBy(plans, ({ jobId }) => jobId);
  for (const row of occurrences) {
    const others = rowsOf.get(row.job_id) ?? [];
    const lie = row.status === 'ok' ? undefined : lieOf(row, { others, plans: plansOf.get(row.job_id) ?? [] });
    if (lie !== undefined) {
      yield { jobId: row.job_id, what: `${new Date(row.scheduled_ms).toISOString()}, ${row.status}: ${lie}` };
    }
  }
}

interface Context {
  others: readonly CronOccurrenceTable[];
  plans: readonly Plan[];
}

function lieOf(row: CronOccurrenceTable, context: Context): string | undefined {
  const { status, error } = row;
  if (!error) return 'no reason is given';
  if (status === 'missed') return lieOfMissed(row, context);
  if (status === 'skipped' && error.includes('was still in progress')) {
    const isTrue = context.others.some(({ attempts, ended_ms }) => attempts > 0 && ended_ms === row.ended_ms);
    return isTrue ? undefined : 'no run ended then';
  }
  return undefined;
}

/** A missed occurrence was too late for its policy, or a later one was claimed instead. */
function lieOfMissed(row: CronOccurrenceTable, { others, plans }: Context): string | undefined {
  const isReplaced = others.some(({ scheduled_ms, epoch }) => epoch > 0 && scheduled_ms > row.through_ms);
  if (isReplaced) return undefined;
  const misfire = plans.findLast(({ schedule }) => gridOf(schedule).has(row.scheduled_ms))?.misfire;
  const isWithin = typeof misfire === 'object' && 'within' in misfire;
  if (misfire !== 'skip' && !isWithin) return 'its policy is to run it late';
  const lateMs = (row.ended_ms ?? 0) - row.through_ms;
  const limitMs = isWithin ? Math.max(IN_TIME_MS, misfire.within) : IN_TIME_MS;
  return lateMs > limitMs ? undefined : `it was ${lateMs} ms late, and ${limitMs} are allowed`;
}
