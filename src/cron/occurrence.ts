import type { CronStatus } from '../../protocol/cron.ts';
import type { Taint } from '../../protocol/events/rules.ts';
import type { Job } from './jobs/job.ts';

/** A claimed occurrence. Only the holder of the newest epoch may continue it. */
export interface Claim {
  jobId: string;
  /** The instant; identifies the occurrence together with the job. */
  scheduledMs: number;
  trigger: 'schedule' | 'forced';
  epoch: number;
  /** Attempts so far. */
  attempts: number;
}

/** A claim as stored in the ledger. */
export interface OpenOccurrence extends Claim {
  status: 'claimed' | 'started' | 'retrying';
  owner: string;
  /** When the lease of its owner ends. */
  leaseMs: number;
  runId?: string | undefined;
  startedMs?: number | undefined;
  /** Working time of the attempt at the last lease renewal. */
  spentMs: number;
  retryMs?: number | undefined;
  /** The error of the previous attempt, while it waits for its retry. */
  error?: string | undefined;
  /** The job as it was when it was removed. */
  removedJob?: Job | undefined;
}

/** Instants without a run, and the reason. */
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
  /** What its texts were made from that nobody trusts. */
  taint?: Pick<Taint, 'kind' | 'target'> | undefined;
}
