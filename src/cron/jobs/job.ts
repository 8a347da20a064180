import type { CronApproval, CronMisfire, CronPayload, CronSchedule, CronStatus } from '../../../protocol/cron.ts';

/** The parts of a job that people choose. */
export interface JobDefinition {
  name: string;
  /** The time zone (`cron`) or anchor (`every`) is resolved, so a change of the host does not move it. */
  schedule: CronSchedule;
  sessionTarget: 'main' | 'isolated';
  wakeMode: 'next-heartbeat' | 'now';
  payload: CronPayload;
  isolation?: { postToMainPrefix?: string | undefined } | undefined;
  /** False: the main session gets no line when its runs end. */
  tellMain?: false | undefined;
  misfire: CronMisfire;
  deleteAfterRun: boolean;
  maxRunMs: number;
  approval: CronApproval;
  /** The principal who chose where the answers go. */
  sender?: string | undefined;
  /** The rights of its text, if its writer may not decide about calls. */
  rights?: 'write' | undefined;
  /** What an administrator wrote about it; present for jobs made as schedules. */
  label?: JobLabel | undefined;
}

/** Has no effect on the runs of a job. */
export interface JobLabel {
  description: string;
  targetMode: string;
  createdBy: string;
}

/** A scheduled job. Immutable: a change creates a new object. */
export interface Job extends JobDefinition {
  id: string;
  enabled: boolean;
  /** Incremented by every change that a caller makes. */
  revision: number;
  createdMs: number;
  updatedMs: number;
  /** Since when it is enabled with this schedule: earlier instants were never due. */
  sinceMs: number;
  /** The first instant without a record; undefined when there is none. */
  nextMs: number | undefined;
  /** The last instant with a record. */
  handledMs: number | undefined;
  /** Consecutive errors. */
  failures: number;
  /** Set after repeated errors: nothing runs before this time. */
  holdMs: number | undefined;
  last: LastRun | undefined;
  /** What is stored in place of `last`, if that is damaged. */
  damagedLast?: string | undefined;
}

export interface LastRun {
  scheduledMs: number;
  /** Absent when nothing began. */
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  status: CronStatus;
  error?: string | undefined;
  /** The latest missed instant, if nothing has run since. */
  missed?: { scheduledMs: number; error: string } | undefined;
}
