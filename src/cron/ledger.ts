import type { Job } from './jobs/job.ts';
import type { Claim, OpenOccurrence, Outcome, Settled } from './occurrence.ts';

/**
 * Where jobs and their occurrences are kept, as the scheduler needs it. Each method is one transaction that is on disk
 * when it resolves. `undefined` and `false` say that somebody else was first and nothing was changed; it rejects while
 * the store takes no writes.
 */
export interface Ledger {
  jobs(): Promise<Job[]>;
  /** How often each job was changed by hand: tells cheaply which ones somebody else has added, changed or removed. */
  revisions(): Promise<Map<string, number>>;
  /** Undefined when it was removed. */
  job(jobId: string): Promise<Job | undefined>;
  /** Every occurrence that is not over. */
  open(): Promise<OpenOccurrence[]>;
  /**
   * A change by hand; `job`: as it stands afterwards, undefined: it is removed. Then its occurrence that is not over keeps
   * what it was.
   */
  change(before: Job, to: { job: Job | undefined; settled: readonly Settled[] }): Promise<boolean>;
  /** Moves the cursor of a job over instants that are settled now, and claims the one that is to run. */
  advance(job: Job, step: Advance): Promise<Claim | 'settled' | undefined>;
  /** Claims a run that nobody scheduled, at this instant or the next free one. */
  force(job: Job, claim: { atMs: number; leaseMs: number; keep?: Keep | undefined }): Promise<Claim | undefined>;
  /** The one of a job that is not over; there is never more than one. */
  openOf(jobId: string): Promise<OpenOccurrence | undefined>;
  /** Takes an occurrence as it stands from an owner who is gone, or claims one again that waits to be tried again. */
  takeOver(occurrence: Claim & Pick<OpenOccurrence, 'status' | 'spentMs'>, leaseMs: number): Promise<Claim | undefined>;
  /** Says that its owner is alive, and how long the attempt has worked. */
  renew(claim: Claim, sign: { leaseMs: number; spentMs: number }): Promise<boolean>;
  /** The attempt failed and is to be made again. */
  postpone(claim: Claim, to: { retryMs: number; error: string; before: Job; job: Job }): Promise<boolean>;
  /** The one terminal record, with what it means for the job and for the main session. */
  finish(claim: Claim, end: Finish): Promise<boolean>;
  /** The clock was set back: forgets what was said of instants after `handledMs` of the job as it stands afterwards. */
  rewind(job: Job, after: Job & { handledMs: number }): Promise<boolean>;
  /** Instants after this one that have a record; `butMissed`: of something that ran, or was forced. */
  recorded(jobId: string, afterMs: number, options: { butMissed: boolean }): Promise<ReadonlySet<number>>;
}

/** What whoever asked for a run wants committed with the claim. */
export type Keep = (scheduledMs: number) => readonly Rider[];

/** A statement of somebody else's; only the ledger reads it. */
interface Rider {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly expect?: number;
}

export interface Advance {
  settled: readonly Settled[];
  claim?: { scheduledMs: number; leaseMs: number; keep?: Keep | undefined } | undefined;
  /** The job as it stands afterwards. */
  job: Job;
}

export interface Finish extends Outcome {
  endedMs: number;
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  /** The job as it was known; undefined: it is gone. */
  before: Job | undefined;
  /** As it stands afterwards; undefined: it is removed. */
  job: Job | undefined;
  /** Instants that passed meanwhile. */
  settled?: readonly Settled[] | undefined;
  /** A line for the main session; `wakes`: it gets a turn for it. */
  tellMain?: { text: string; wakes: boolean } | undefined;
}
