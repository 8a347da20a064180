import type { CronMisfire, CronSchedule } from '../../protocol/cron.ts';
import type {
  CronAttemptTable,
  CronJobTable,
  CronOccurrenceTable,
} from '../../src/gateway/store/schema/cron-schema.ts';
import type { WallStep } from './sim-clock.ts';

/** The evidence of a simulation: what the schedulers wrote, and what really happened. Plain data. */
export interface CronEvidence {
  jobs: CronJobTable[];
  occurrences: CronOccurrenceTable[];
  attempts: CronAttemptTable[];
  /** The plans of each job, in order. */
  plans: Plan[];
  runs: SimRun[];
  /** The relation of true time and wall clock. */
  wallSteps: WallStep[];
  /** The writes to occurrences, in the order of their commits. */
  writes: CronWrite[];
  /** When no run could start, in true time. */
  blocked: Block[];
  /** The lives of processes, in true time. */
  lives: (Span & { owner: string })[];
  /** When a process was stopped and continued later, in true time. */
  stalls: (Span & { owner: string })[];
  /** When a person made a request for a job, whatever the result. */
  asked: { jobId: string; atMs: number }[];
  maxConcurrentRuns: number;
  /** How long after the kill of its owner a claim may be taken over; 0 for a single scheduler. */
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

/** An accepted request; `atMs` in true time. */
export interface CronWrite {
  /** Settled: does not run, and has no claim. Claimed includes takeovers. */
  what: 'settle' | 'claim' | 'renew' | 'start' | 'postpone' | 'end';
  owner: string;
  jobId: string;
  scheduledMs: number;
  /** The number of the claim; 0 without a claim. */
  epoch: number;
  atMs: number;
}

/** A schedule of a job, while it was enabled. Times are true times, except `sinceMs`. */
export interface Plan {
  jobId: string;
  schedule: CronSchedule;
  misfire: CronMisfire;
  madeMs: number;
  /** Undefined while the plan is in force. */
  overMs: number | undefined;
  /** As in the job at the end of the plan, by the wall clock: earlier times were never due. */
  sinceMs: number;
  /** As it was then: later due times do not belong to this plan. */
  nextMs: number | undefined;
}

/** What really happened during an attempt, in true time. */
export interface SimRun {
  runId: string;
  jobId: string;
  scheduledMs: number;
  attempt: number;
  owner: string;
  trigger: 'schedule' | 'forced';
  /** When work on it started from the beginning. */
  startMs: number | undefined;
  endMs: number | undefined;
  /** The processes that worked on it; without an end, until the process died. */
  holds: { owner: string; fromMs: number; toMs: number | undefined }[];
  /** Its time limit, and when it was stopped because of it. */
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
