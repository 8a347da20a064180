/** A scheduled job. `definition_json` has what callers change, the other columns have what its runs change. */
export interface CronJobTable {
  job_id: string;
  definition_json: string;
  /** Incremented by every change that a caller makes. */
  revision: number;
  enabled: 0 | 1;
  created_ms: number;
  updated_ms: number;
  /** Since when it is enabled with this schedule: earlier instants were never due. */
  since_ms: number;
  /** The first instant without an occurrence; null: there is none. */
  next_ms: number | null;
  /** The last instant with an occurrence. */
  handled_ms: number | null;
  /** Consecutive errors. */
  failures: number;
  /** Set after repeated errors: nothing runs before this time. */
  hold_ms: number | null;
  last_json: string | null;
}

/** One instant at which a job was due (or several without a run), or a forced run. */
export interface CronOccurrenceTable {
  job_id: string;
  scheduled_ms: number;
  /** The last instant, if the row covers several. */
  through_ms: number;
  /** The number of instants; null: too many to count. */
  count: number | null;
  trigger: 'schedule' | 'forced';
  /** claimed: not begun; started: its run is in the journal; retrying: waits for `retry_ms`; the others are final. */
  status: 'claimed' | 'started' | 'retrying' | 'ok' | 'error' | 'skipped' | 'missed' | 'interrupted';
  /** The scheduler that claimed it last, fenced by the epoch. */
  owner: string | null;
  epoch: number;
  /** Until then, no other scheduler takes it over. */
  lease_ms: number | null;
  attempts: number;
  retry_ms: number | null;
  run_id: string | null;
  session_key: string | null;
  started_ms: number | null;
  ended_ms: number | null;
  error: string | null;
  summary: string | null;
  /** When the job was to run next after this ended; null: never. */
  next_run_ms: number | null;
  /** How long the attempt had worked at the last lease renewal. */
  spent_ms: number;
  /** The duration of the attempt that ended it; null: there was none, or it is unknown. */
  duration_ms: number | null;
  /** The job, if it was removed while this was open. */
  removed_job_json: string | null;
}

/** One attempt. */
export interface CronAttemptTable {
  job_id: string;
  scheduled_ms: number;
  attempt: number;
  epoch: number;
  owner: string;
  started_ms: number;
  run_id: string | null;
}
