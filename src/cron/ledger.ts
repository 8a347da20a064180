import type { Job } from './jobs/job.ts';
import type { Claim, OpenOccurrence, Outcome, Settled } from './occurrence.ts';

/**
 * Storage for jobs and their occurrences, as the scheduler needs it. Each method is one transaction, which is on disk
 * when the promise resolves. `undefined` and `false` mean that another scheduler was first and nothing changed. Methods
 * reject while the store cannot be written.
 */
export interface Ledger {
  jobs(): Promise<Job[]>;
  /**
   * How often callers have changed each job: a cheap way to find jobs that were added, changed or removed elsewhere.
   */
  revisions(): Promise<Map<string, number>>;
  /** Undefined when it was removed. */
  job(jobId: string): Promise<Job | undefined>;
  /** All occurrences that have not ended. */
  open(): Promise<OpenOccurrence[]>;
  /**
   * A change by a caller. `job` is the job afterwards; undefined removes it. Its open occurrence then keeps a copy of
   * the job. `also`: what the caller writes in the same transaction.
   */
  change(
    before: Job,
    to: { job: Job | undefined; settled: readonly Settled[]; also?: readonly Rider[] },
  ): Promise<boolean>;
  /** Moves the cursor of a job past settled instants, and claims the one to run. */
  advance(job: Job, step: Advance): Promise<Claim | 'settled' | undefined>;
  /** Claims an unscheduled run at this instant or the next free one. */
  force(job: Job, claim: { atMs: number; leaseMs: number; keep?: Keep | undefined }): Promise<Claim | undefined>;
  /** The open occurrence of a job; there is never more than one. */
  openOf(jobId: string): Promise<OpenOccurrence | undefined>;
  /** Takes over an occurrence whose owner is gone, or claims one again for its retry. */
  takeOver(
    occurrence: Claim & Pick<OpenOccurrence, 'status' | 'spentMs'>,
    to: { leaseMs: number; keep?: Keep | undefined },
  ): Promise<Claim | undefined>;
  /** Shows that the owner is alive, and stores how long the attempt has worked. */
  renew(claim: Claim, sign: { leaseMs: number; spentMs: number }): Promise<boolean>;
  /** Records that the attempt failed and will be retried. */
  postpone(claim: Claim, to: { retryMs: number; error: string; before: Job; job: Job }): Promise<boolean>;
  /** Writes the final record, with its effects on the job and the main session. */
  finish(claim: Claim, end: Finish): Promise<boolean>;
  /** After the clock was set back: deletes the records of instants after `handledMs`. */
  rewind(job: Job, after: Job & { handledMs: number }): Promise<boolean>;
  /** Instants after this one that have a record. `butMissed`: only of runs and forced runs. */
  recorded(jobId: string, afterMs: number, options: { butMissed: boolean }): Promise<ReadonlySet<number>>;
}

/** Writes of the caller that must commit together with the claim. */
export type Keep = (scheduledMs: number) => readonly Rider[];

/** A statement from another part; only the ledger reads it. */
export interface Rider {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly expect?: number;
}

export interface Advance {
  settled: readonly Settled[];
  claim?: { scheduledMs: number; leaseMs: number; keep?: Keep | undefined } | undefined;
  /** The job afterwards. */
  job: Job;
}

export interface Finish extends Outcome {
  endedMs: number;
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  /** The job as the caller knew it; undefined when it is gone. */
  before: Job | undefined;
  /** The job afterwards; undefined when removed. */
  job: Job | undefined;
  /** Instants that passed meanwhile. */
  settled?: readonly Settled[] | undefined;
  /** A line for the main session. `wakes`: it also gets a turn; `rights`: those of the job. */
  tellMain?: ({ text: string; wakes: boolean; rights?: Job['rights'] } & Pick<Outcome, 'taint'>) | undefined;
}
