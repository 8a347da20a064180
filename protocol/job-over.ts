import type { CronExtendedJob } from './cron.ts';

/** It had one time, and that is on record. */
export const isOver = ({
  enabled,
  schedule,
  state,
}: Pick<CronExtendedJob, 'enabled' | 'schedule' | 'state'>): boolean =>
  !enabled && schedule.kind === 'at' && state.lastScheduledAtMs === schedule.atMs;
