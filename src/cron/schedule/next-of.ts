import type { CronSchedule } from '../../../protocol/cron.ts';
import { nextAfter } from './schedule.ts';

/**
 * The first instant strictly after `afterMs`. The anchor and zone of the schedule must be resolved, as those of stored
 * jobs are.
 */
export const nextOf = (schedule: CronSchedule, afterMs: number): number | undefined =>
  nextAfter(schedule, afterMs, { anchorMs: 0, tz: 'UTC' });
