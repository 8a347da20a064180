import type { Job } from './job.ts';

/** A job that runs each minute, with the given changes. */
export const someJob = (more: Partial<Job> = {}): Job => ({
  id: 'job_1',
  name: 'a job',
  schedule: { kind: 'every', everyMs: 60_000, anchorMs: 0 },
  sessionTarget: 'isolated',
  wakeMode: 'now',
  payload: { kind: 'agentTurn', message: 'do it' },
  misfire: 'once',
  deleteAfterRun: false,
  maxRunMs: 3_600_000,
  approval: { mode: 'deny' },
  enabled: true,
  revision: 1,
  createdMs: 0,
  updatedMs: 0,
  sinceMs: 0,
  nextMs: 60_000,
  handledMs: undefined,
  failures: 0,
  holdMs: undefined,
  last: undefined,
  ...more,
});
