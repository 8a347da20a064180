import type { CronStatus } from '../../protocol/cron.ts';
import type { Job } from './jobs/job.ts';

/** An occurrence that somebody has claimed; whoever holds the newest epoch may go on with it, nobody else. */
export interface Claim {
  jobId: string;
  /** The instant; names the occurrence together with the job. */
  scheduledMs: number;
  trigger: 'schedule' | 'forced';
  epoch: number;
  /** Starts so far. */
  attempts: number;
}

/** A claim as the ledger has it: what a scheduler finds when it begins. */
export interface OpenOccurrence extends Claim {
  status: 'claimed' | 'started' | 'retrying';
  owner: string;
  /** Until then it is its owner's. */
  leaseMs: number;
  runId?: string | undefined;
  startedMs?: number | undefined;
  /** Working time of the attempt when the lease was renewed last. */
  spentMs: number;
  retryMs?: number | undefined;
  /** Of the attempt before, when it waits to be tried again. */
  error?: string | undefined;
  /** As it was when it was removed. */
  removedJob?: Job | undefined;
}

/** Instants that nothing ran for, and why. */
export interface Settled {
  fromMs: number;
  throughMs: number;
  /** Undefined: too many to count. */
  count: number | undefined;
  status: 'missed' | 'skipped';
  reason: string;
}

/** How an attempt ended; `missed`: before it began. */
export interface Outcome {
  status: CronStatus;
  summary?: string;
  error?: string;
}
