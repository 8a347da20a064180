import type { CronExtendedJob } from '../../../protocol/cron.ts';

/** A job that runs every 15 minutes, as the daemon returns it; `more` overrides fields. */
export const someJob = (more: Partial<CronExtendedJob> = {}): CronExtendedJob => ({
  ...{ id: 'j1', revision: 1, enabled: true, createdAtMs: 1, updatedAtMs: 1 },
  ...{ schedule: { kind: 'every', everyMs: 900_000 }, sessionTarget: 'isolated', wakeMode: 'now' },
  ...{ payload: { kind: 'agentTurn', message: 'm' }, state: {} },
  ...{ misfire: 'once', deleteAfterRun: false, maxRunMs: 1, approval: { mode: 'deny' } },
  ...more,
});
