import type { Rights } from '../../rights.ts';

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
  /** The node id of the worker whose scheduler runs it; null: the active daemon. */
  machine: string | null;
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
  /** The node id of the worker that claimed it or took it over; null: the active daemon, or nobody. */
  machine: string | null;
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

/** An event for the main session that a worker has left for the active daemon. Primary key event_id. */
export interface MainEventTable {
  event_id: string;
  text: string;
  /** Those of its author. */
  rights: Rights;
  /** What it was made from that nobody trusts. */
  taint_json: string | null;
  /** The principal that wants a turn for it; null: none. */
  wakes: string | null;
  created_ms: number;
}

/** Schema version 55: some jobs are with workers (decision 192). */
export const placedJobs: readonly string[] = [
  'alter table cron_jobs add column machine text',
  'create index cron_jobs_by_machine on cron_jobs (machine) where machine is not null',
  'alter table cron_occurrences add column machine text',
  `create table main_events (
    event_id text not null primary key, text text not null, rights text not null, taint_json text, wakes text,
    created_ms bigint not null
  )`,
];
