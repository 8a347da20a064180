import type { CronExtendedJob } from '../../../protocol/cron.ts';
import { isOver } from '../../../protocol/job-over.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { jobName } from './job-table.ts';

/** A job that needs attention. */
interface JobTrouble {
  id: string;
  name: string;
  consecutiveErrors: number;
  /** It has failed so often that an alert was raised. */
  alert: boolean;
  error: string | undefined;
}

export interface JobTroubles {
  /** Their last run ended in an error. */
  failing: JobTrouble[];
  /** One-time jobs whose time was missed: they will not run. */
  missed: JobTrouble[];
}

/** Ignores jobs that a person has switched off. */
export function findTroubles(jobs: readonly CronExtendedJob[]): JobTroubles {
  const failing = jobs.filter((job) => (job.enabled || isOver(job)) && (job.state.alert || hasEnded(job, 'error')));
  const missed = jobs.filter((job) => isOver(job) && hasEnded(job, 'missed'));
  return { failing: failing.map(toTrouble), missed: missed.map(toTrouble) };
}

/** A line for each. */
export const toTroubleLines = ({ failing, missed }: JobTroubles): string[] => [
  ...failing.map(({ name, consecutiveErrors, alert, error }) => {
    const times = consecutiveErrors > 1 ? ` ${consecutiveErrors} times in a row` : '';
    return `! ${alert ? 'alert: ' : ''}job "${name}" failed${times}: ${toVisibleLine(error ?? 'see headgate cron runs')}`;
  }),
  ...missed.map(({ name, error = '' }) => `! job "${name}" was missed and will not run: ${toVisibleLine(error)}`),
];

const hasEnded = ({ state }: CronExtendedJob, status: 'error' | 'missed'): boolean => state.lastStatus === status;

const toTrouble = (job: CronExtendedJob): JobTrouble => ({
  id: job.id,
  name: jobName(job),
  consecutiveErrors: job.state.consecutiveErrors ?? 0,
  alert: job.state.alert ?? false,
  error: job.state.lastError,
});
