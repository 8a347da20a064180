import type { CronExtendedJob } from '../../../protocol/cron.ts';

/** As the daemon tells a job that runs each quarter of an hour, but for what is said. */
export const someJob = (more: Partial<CronExtendedJob> = {}): CronExtendedJob => ({
  ...{ id: 'j1', revision: 1, enabled: true, createdAtMs: 1, updatedAtMs: 1 },
  ...{ schedule: { kind: 'every', everyMs: 900_000 }, sessionTarget: 'isolated', wakeMode: 'now' },
  ...{ payload: { kind: 'agentTurn', message: 'm' }, state: {} },
  ...{ misfire: 'once', deleteAfterRun: false, maxRunMs: 1, approval: { mode: 'deny' } },
  ...more,
});
