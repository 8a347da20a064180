import type { CronSchedule } from '../../../protocol/cron.ts';
import { describeSchedule } from './schedule-text.ts';

/**
 * Like `describeSchedule`, with the expression in words: `at 09:00, Monday through Friday (Europe/Berlin)`. The parser
 * is loaded on first use, because the daemon starts faster without it.
 */
export async function describeInWords(schedule: CronSchedule, tz = 'UTC'): Promise<string> {
  if (schedule.kind !== 'cron') return describeSchedule(schedule, tz);
  const { default: cronstrue } = await import('cronstrue');
  try {
    const words = cronstrue.toString(schedule.expr, { use24HourTimeFormat: true });
    return `${words.charAt(0).toLowerCase()}${words.slice(1)} (${schedule.tz ?? tz})`;
  } catch {
    return describeSchedule(schedule, tz); // the parser does not support every expression
  }
}
