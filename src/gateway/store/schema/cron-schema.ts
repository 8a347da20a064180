/** A scheduled job; what is changed by hand stands in `definition_json`, what its runs change in columns. */
export interface CronJobTable {
  job_id: string;
  definition_json: string;
  /** Rises with every change by hand. */
  revision: number;
  enabled: 0 | 1;
  created_ms: number;
  updated_ms: number;
  /** Enabled, with this schedule, since then: earlier instants were never due. */
  since_ms: number;
  /** The first instant that has no occurrence yet; null: there is none. */
  next_ms: number | null;
  /** The last instant that has one. */
  handled_ms: number | null;
  /** Errors in a row. */
  failures: number;
  /** After repeated errors: nothing runs before. */
  hold_ms: number | null;
  last_json: string | null;
}

/** One instant at which a job was due (or several that did not run), or a forced run. */
export interface CronOccurrenceTable {
  job_id: string;
  scheduled_ms: number;
  /** The last instant, where the row stands for several. */
  through_ms: number;
  /** Instants; null: too many to count. */
  count: number | null;
  trigger: 'schedule' | 'forced';
  /** claimed: nothing has begun; started: its run is in the journal; retrying: waits for `retry_ms`; the others are final. */
  status: 'claimed' | 'started' | 'retrying' | 'ok' | 'error' | 'skipped' | 'missed' | 'interrupted';
  /** The scheduler that claimed it last, fenced by the epoch. */
  owner: string | null;
  epoch: number;
  /** Until then nobody else takes it over. */
  lease_ms: number | null;
  attempts: number;
  retry_ms: number | null;
  run_id: string | null;
  session_key: string | null;
  started_ms: number | null;
  ended_ms: number | null;
  error: string | null;
  summary: string | null;
  /** When the job was to run next once this was over; null: not at all. */
  next_run_ms: number | null;
  /** How long the attempt had worked when its lease was renewed last. */
  spent_ms: number;
  /** Of the attempt that ended it; null: none did, or nobody knows. */
  duration_ms: number | null;
  /** The job, where it was removed and this is not over. */
  removed_job_json: string | null;
}

/** One start. */
export interface CronAttemptTable {
  job_id: string;
  scheduled_ms: number;
  attempt: number;
  epoch: number;
  owner: string;
  started_ms: number;
  run_id: string | null;
}
