import type { CronExtendedJob, CronOccurrence } from '../../../protocol/cron.ts';
import { isOver } from '../../../protocol/job-over.ts';
import { runStatusOf } from '../../../protocol/run-status.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { describeInWords } from '../../cron/schedule/schedule-words.ts';
import { type Here, toDistance, toLength, toLocal } from '../local-time.ts';
import { toTextTable } from '../text-table.ts';

/** The jobs, with their next run in local time. */
export async function toJobTable(jobs: readonly CronExtendedJob[], here: Here): Promise<string> {
  const rows = await Promise.all(jobs.map((job) => toJobCells(job, here)));
  return toTextTable([['NAME', 'SCHEDULE', 'NEXT RUN', 'STATUS', 'LAST RUN', 'ID'], ...rows]);
}

/** A job's name, or its id if it has none. */
export const jobName = ({ name, id }: Pick<CronExtendedJob, 'name' | 'id'>): string => toLine(name ?? id, 40);

/** When it is due, for people: `Thu 2026-12-24 18:00 (in 3 h)`. */
export function toNextRun(job: CronExtendedJob, here: Here): string {
  const { nextRunAtMs } = job.state;
  if (nextRunAtMs === undefined) return job.enabled ? 'none' : isOver(job) ? 'over' : 'off';
  const distance = nextRunAtMs > here.nowMs ? toDistance(nextRunAtMs, here.nowMs) : 'due';
  return `${toLocal(nextRunAtMs, here)} (${distance})`;
}

/** Like `toNextRun`, and also in the time zone of its schedule. */
export function toNextRunIn(tz: string, job: CronExtendedJob, here: Here): string {
  const { nextRunAtMs } = job.state;
  const next = toNextRun(job, here);
  if (nextRunAtMs === undefined || toLocal(nextRunAtMs, { tz }) === toLocal(nextRunAtMs, here)) return next;
  return `${next}, in ${tz} ${toLocal(nextRunAtMs, { tz })}`;
}

/** The history, oldest first. Times missed in a row are one line, with the first and the last. */
export const toRunTable = (runs: readonly CronOccurrence[], here: Here): string =>
  toTextTable([['DUE', 'STATUS', 'STARTED', 'TOOK', 'WHAT'], ...runs.map((run) => toRunCells(run, here))]);

const NONE = '-';

async function toJobCells(job: CronExtendedJob, here: Here): Promise<string[]> {
  const { lastRunAtMs, lastScheduledAtMs } = job.state;
  const lastMs = lastRunAtMs ?? lastScheduledAtMs;
  return [
    jobName(job),
    toLine(await describeInWords(job.schedule, here.tz), 60),
    toNextRun(job, here),
    toStatus(job),
    lastMs === undefined ? 'never' : toDistance(lastMs, here.nowMs),
    toVisibleLine(job.id),
  ];
}

/** How the last run ended, or that one is in progress. */
export function toStatus({ state }: CronExtendedJob): string {
  const { runningAtMs, lastStatus, consecutiveErrors = 0, alert } = state;
  if (runningAtMs !== undefined) return 'running';
  if (alert) return `ALERT (${consecutiveErrors} errors in a row)`;
  return lastStatus === 'error' && consecutiveErrors > 1
    ? `error (${consecutiveErrors} in a row)`
    : (lastStatus ?? NONE);
}

function toRunCells(run: CronOccurrence, here: Here): string[] {
  const { scheduledAtMs, throughMs, runAtMs, durationMs } = run;
  const isRange = throughMs !== undefined && throughMs !== scheduledAtMs;
  return [
    `${toLocal(scheduledAtMs, here)}${isRange ? ` to ${toLocal(throughMs, here)}` : ''}`,
    runStatusOf(run),
    runAtMs === undefined ? NONE : toLocal(runAtMs, here),
    durationMs === undefined ? NONE : toLength(durationMs),
    toLine(toWords(run, here), 80),
  ];
}

function toWords({ trigger, count, attempts, retryAtMs, error, summary }: CronOccurrence, here: Here): string {
  const words = [
    trigger === 'forced' && '[by hand]',
    count !== undefined && count > 1 && `[${count} times]`,
    attempts > 1 && `[${attempts} attempts]`,
    retryAtMs !== undefined && `[next attempt ${toLocal(retryAtMs, here)}]`,
    error ?? summary,
  ];
  return words.filter((word) => word !== false && word !== undefined).join(' ') || NONE;
}

/** The first line, cut to `most` characters. */
function toLine(text: string, most: number): string {
  const [first = ''] = text.trim().split('\n');
  const line = toVisibleLine(first);
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
