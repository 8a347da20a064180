import type { CronApproval, CronMisfire, CronPayload, CronSchedule, CronStatus } from '../../../protocol/cron.ts';

/** What people decide about a job. */
export interface JobDefinition {
  name: string;
  /** With its time zone (`cron`) or anchor (`every`) resolved, so that no change of the host moves it. */
  schedule: CronSchedule;
  sessionTarget: 'main' | 'isolated';
  wakeMode: 'next-heartbeat' | 'now';
  payload: CronPayload;
  isolation?: { postToMainPrefix?: string | undefined } | undefined;
  /** False: the main session is not told of the ends of its runs. */
  tellMain?: false | undefined;
  misfire: CronMisfire;
  deleteAfterRun: boolean;
  maxRunMs: number;
  approval: CronApproval;
}

/** A scheduled job. Never changed in place: who changes one puts another in its place. */
export interface Job extends JobDefinition {
  id: string;
  enabled: boolean;
  /** Rises with every change by hand. */
  revision: number;
  createdMs: number;
  updatedMs: number;
  /** Enabled, with this schedule, since then: earlier instants were never due. */
  sinceMs: number;
  /** The first instant that has no record yet; undefined: there is none. */
  nextMs: number | undefined;
  /** The last instant that has one. */
  handledMs: number | undefined;
  /** Errors in a row. */
  failures: number;
  /** After repeated errors: nothing runs before. */
  holdMs: number | undefined;
  last: LastRun | undefined;
}

export interface LastRun {
  scheduledMs: number;
  /** Absent when nothing began. */
  startedMs?: number | undefined;
  durationMs?: number | undefined;
  status: CronStatus;
  error?: string | undefined;
  /** Nothing has run since then. */
  missed?: { scheduledMs: number; error: string } | undefined;
}
