import type { CronMisfire, CronSchedule } from '../../protocol/cron.ts';
import type { CronAttemptTable, CronJobTable, CronOccurrenceTable } from '../../src/gateway/store/cron-schema.ts';
import type { WallStep } from './sim-clock.ts';

/** What is known of some time with schedulers: what they wrote, and what the world saw. Plain data. */
export interface CronEvidence {
  jobs: CronJobTable[];
  occurrences: CronOccurrenceTable[];
  attempts: CronAttemptTable[];
  /** What somebody wanted of each job, in this order. */
  plans: Plan[];
  runs: SimRun[];
  /** How true time and the wall clock went together. */
  wallSteps: WallStep[];
  /** When nothing could begin, in true time: the machine slept, the store took no writes, schedules were turned off. */
  blocked: Span[];
  /** Of processes, in true time. */
  lives: (Span & { owner: string })[];
  maxConcurrentRuns: number;
  /** So long after its owner was killed, a claim may be taken over; 0 where a scheduler is alone. */
  leaseMs: number;
  endTrueMs: number;
}

export interface Span {
  fromMs: number;
  toMs: number;
}

/** A schedule of a job, while it was enabled. True times, but for `sinceMs`. */
export interface Plan {
  jobId: string;
  schedule: CronSchedule;
  misfire: CronMisfire;
  madeMs: number;
  /** Undefined: it stands. */
  overMs: number | undefined;
  /** As the job had it at the end of the plan, by the wall clock: earlier instants were never due. */
  sinceMs: number;
  /** As it was then: what comes from there on is not owed by this plan. */
  nextMs: number | undefined;
}

/** What really happened of an attempt, in true time. */
export interface SimRun {
  runId: string;
  jobId: string;
  scheduledMs: number;
  attempt: number;
  owner: string;
  trigger: 'schedule' | 'forced';
  /** When work on it began from nothing. */
  startMs: number | undefined;
  endMs: number | undefined;
  /** Who worked on it; without an end: until the end of the run, or of that process. */
  holds: { owner: string; fromMs: number }[];
  outcome: 'ok' | 'error';
}

/** A broken promise. */
export interface CronViolation {
  rule: string;
  jobId: string;
  what: string;
}

export type CronFinding = Omit<CronViolation, 'rule'>;
export type CronRule = (evidence: CronEvidence) => Iterable<CronFinding>;
