import type { Job } from './jobs/job.ts';
import type { Claim, OpenOccurrence, Outcome } from './occurrence.ts';

/** Runs the payload of jobs. */
export interface Executor {
  /**
   * Begins an attempt, in one transaction with its start record (attempt number `claim.attempts + 1`). Undefined when
   * the claim is no longer ours. Rejects when it could not begin; an error with `retryable: true` may succeed on retry.
   */
  begin(job: Job, claim: Claim): Promise<Begun | undefined>;
  /** Resumes a run that began before the daemon stopped; undefined when the run no longer exists. */
  resume(job: Job, started: OpenOccurrence): Promise<Begun | undefined>;
}

export interface Begun {
  startedMs: number;
  /** Resolves when the run ends; never rejects. */
  ended: Promise<Outcome>;
  /** Stops the run with this reason. */
  stop(reason: string): void;
}
