import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import type { Store } from '../store/store.ts';
import { type CalendarRange, type CalendarRuns, pastRuns } from './calendar.ts';

/** Reads the ledger for clients. */
export interface Occurrences {
  /** The latest occurrences, oldest first; `isOver`: only ended ones. */
  latest(jobId: string, options: { limit: number; isOver: boolean }): Promise<CronOccurrenceTable[]>;
  /** The open occurrence. */
  open(jobId: string): Promise<CronOccurrenceTable | undefined>;
  /** The occurrence that covers an instant; of a range, the latest. */
  at(jobId: string, atMs: number, throughMs?: number): Promise<CronOccurrenceTable | undefined>;
  /** Those of all jobs in a range of times. */
  between(range: CalendarRange, nameOf: (jobId: string) => string | undefined): Promise<CalendarRuns>;
}

export const createOccurrences = ({ db }: Pick<Store, 'db'>): Occurrences => ({
  async latest(jobId, { limit, isOver }) {
    let query = db.selectFrom('cron_occurrences').selectAll().where('job_id', '=', jobId);
    if (isOver) query = query.where('ended_ms', 'is not', null);
    return (await query.orderBy('scheduled_ms', 'desc').limit(limit).execute()).reverse();
  },
  open: (jobId) =>
    db
      .selectFrom('cron_occurrences')
      .selectAll()
      .where('job_id', '=', jobId)
      .where('ended_ms', 'is', null)
      .executeTakeFirst(),
  at: (jobId, atMs, throughMs = atMs) =>
    db
      .selectFrom('cron_occurrences')
      .selectAll()
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '<=', throughMs)
      .where('through_ms', '>=', atMs)
      .orderBy('scheduled_ms', 'desc')
      .limit(1)
      .executeTakeFirst(),
  between: (range, nameOf) => pastRuns({ db }, range, nameOf),
});
