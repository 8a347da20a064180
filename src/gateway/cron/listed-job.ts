import type { Job } from '../../cron/jobs/job.ts';

/** A job as clients see it. */
export interface ListedJob {
  job: Job;
  /** The worker that has it; null: the active daemon. */
  machine: string | null;
  /** The machine that it waits for: it has gone, and the job cannot go on elsewhere. */
  missing?: string | undefined;
  /** When it is due next, including retries. */
  nextRunMs: number | undefined;
  /** The start time of its current run. */
  runningSinceMs: number | undefined;
}
