import type { Job } from './jobs/job.ts';
import type { Claim, OpenOccurrence, Outcome } from './occurrence.ts';

/** Does what jobs are for. */
export interface Executor {
  /**
   * Begins an attempt, in one transaction with its start record (attempt number `claim.attempts + 1`). Undefined when
   * the claim is not ours any more. Rejects when it could not begin; an error with `retryable: true` says that it may
   * in a moment.
   */
  begin(job: Job, claim: Claim): Promise<Begun | undefined>;
  /** What was begun before the daemon stopped; undefined when nothing of it is left. */
  resume(job: Job, started: OpenOccurrence): Promise<Begun | undefined>;
}

export interface Begun {
  startedMs: number;
  /** Resolves with the end; never rejects. */
  ended: Promise<Outcome>;
  /** Ends it early with this reason. */
  stop(reason: string): void;
}
