import type { CronExtendedJob, CronOccurrence } from '../../../../protocol/cron.ts';

export const job = (more: Partial<CronExtendedJob> = {}): CronExtendedJob => ({
  ...{ id: 'j1', revision: 7, name: 'mail', enabled: true, createdAtMs: 1, updatedAtMs: 1 },
  schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
  ...{ sessionTarget: 'isolated', wakeMode: 'next-heartbeat', payload: { kind: 'agentTurn', message: 'look' } },
  ...{ state: {}, misfire: 'once', deleteAfterRun: false, maxRunMs: 3_600_000, approval: { mode: 'deny' } },
  ...more,
});

export const occurrence = (more: Partial<CronOccurrence> = {}): CronOccurrence => ({
  ...{ jobId: 'j1', action: 'finished', status: 'ok', scheduledAtMs: 1, trigger: 'schedule', attempts: 1 },
  ...more,
});
