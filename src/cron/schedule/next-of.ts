import type { CronSchedule } from '../../../protocol/cron.ts';
import { nextAfter } from './schedule.ts';

/** The first instant strictly after `afterMs` of a schedule whose anchor and zone are resolved, as those of jobs are. */
export const nextOf = (schedule: CronSchedule, afterMs: number): number | undefined =>
  nextAfter(schedule, afterMs, { anchorMs: 0, tz: 'UTC' });
