import type { CronExtendedJob } from './cron.ts';

/** Whether a one-time job is over: its time is on record. */
export const isOver = ({
  enabled,
  schedule,
  state,
}: Pick<CronExtendedJob, 'enabled' | 'schedule' | 'state'>): boolean =>
  !enabled && schedule.kind === 'at' && state.lastScheduledAtMs === schedule.atMs;
