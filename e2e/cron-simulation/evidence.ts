import type { CronMisfire, CronSchedule } from '../../protocol/cron.ts';
import type {
  CronAttemptTable,
  CronJobTable,
  CronOccurrenceTable,
} from '../../src/gateway/store/schema/cron-schema.ts';
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
  /** Of occurrences, in the order they were committed. */
  writes: CronWrite[];
  /** When nothing could begin, in true time. */
  blocked: Block[];
  /** Of processes, in true time. */
  lives: (Span & { owner: string })[];
  /** When a process was stopped and went on later, in true time. */
  stalls: (Span & { owner: string })[];
  /** When people asked something of a job, whatever came of it. */
  asked: { jobId: string; atMs: number }[];
  maxConcurrentRuns: number;
  /** So long after its owner was killed, a claim may be taken over; 0 where a scheduler is alone. */
  leaseMs: number;
  endTrueMs: number;
}

export interface Span {
  fromMs: number;
  toMs: number;
}

export interface Block extends Span {
  why: 'the machine sleeps' | 'the store takes no writes' | 'schedules are off';
}

/** An accepted one; `atMs` in true time. */
export interface CronWrite {
  /** Settled is what does not run, without a claim; claimed also what is taken over. */
  what: 'settle' | 'claim' | 'renew' | 'start' | 'postpone' | 'end';
  owner: string;
  jobId: string;
  scheduledMs: number;
  /** Of the claim; 0 without one. */
  epoch: number;
  atMs: number;
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
  /** Who worked on it; without an end: until that process died. */
  holds: { owner: string; fromMs: number; toMs: number | undefined }[];
  /** The longest it may go on, and when it was stopped because of that. */
  maxRunMs: number;
  stoppedMs: number | undefined;
  outcome: 'ok' | 'error';
}

/** A violation of a rule. */
export interface CronViolation {
  rule: string;
  jobId: string;
  what: string;
}

export type CronFinding = Omit<CronViolation, 'rule'>;
export type CronRule = (evidence: CronEvidence) => Iterable<CronFinding>;
