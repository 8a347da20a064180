import type { CronSchedule } from '../../../protocol/cron.ts';
import { END_MS, nextAfter } from './schedule.ts';
import { problemOfExpression } from './schedule-calendar.ts';
import { resolveTimeZone } from './schedule-zone.ts';

/** What is wrong with a field of a schedule. */
export interface ScheduleProblem {
  field: 'atMs' | 'everyMs' | 'anchorMs' | 'expr' | 'tz';
  /** The sentence after the field's name. */
  problem: string;
}

/**
 * Why a schedule is invalid; undefined when it is valid. A past instant is valid and due at once. The worst expression
 * takes some milliseconds.
 */
export function checkSchedule(schedule: CronSchedule, nowMs: number): ScheduleProblem | undefined {
  switch (schedule.kind) {
    case 'at':
      return checkTime('atMs', schedule.atMs, 0);
    case 'every':
      return checkTime('everyMs', schedule.everyMs, 1) ?? checkTime('anchorMs', schedule.anchorMs ?? 0, 0);
    case 'cron':
      return checkCron(schedule.expr, schedule.tz, nowMs);
  }
}

function checkTime(field: ScheduleProblem['field'], value: number, least: number): ScheduleProblem | undefined {
  if (Number.isSafeInteger(value) && value >= least && value < END_MS) return undefined;
  return { field, problem: `must be a whole number of milliseconds from ${least} to ${END_MS - 1}` };
}

function checkCron(expr: string, tz: string | undefined, nowMs: number): ScheduleProblem | undefined {
  const problem = problemOfExpression(expr);
  if (problem !== undefined) return { field: 'expr', problem };
  const zone = resolveTimeZone(tz, 'UTC');
  if (zone === undefined) {
    return { field: 'tz', problem: 'is not a known time zone; use a name like Europe/Berlin or UTC' };
  }
  if (nextAfter({ kind: 'cron', expr, tz: zone }, nowMs, { anchorMs: 0 }) !== undefined) return undefined;
  return { field: 'expr', problem: `never fires in ${zone}: its times fall where the clock is set forward` };
}
