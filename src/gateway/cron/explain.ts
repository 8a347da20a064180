import type { CronSwitch } from '../../../protocol/cron.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { nextOf } from '../../cron/schedule/next-of.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import { toOccurrence } from './to-wire.ts';

type Explanation = Omit<Result<'cron.explain'>, 'jobId' | 'atMs' | 'previousAtMs' | 'nextAtMs'>;

export interface Explained {
  job: Job;
  /** The instant in question. */
  atMs: number;
  /** The ledger's record of it. */
  row: CronOccurrenceTable | undefined;
  nowMs: number;
  isRunning: boolean;
  /** What disables automatic runs here. */
  switchedOffBy: readonly CronSwitch[];
  /** Older records have been removed. */
  keptSinceMs: number;
  /** The machine that the job waits for: it has gone, and the job cannot go on elsewhere. */
  missing?: string | undefined;
}

/** Explains why a job did or did not run at an instant. */
export function explain(asked: Explained): Explanation {
  const { job, row, atMs } = asked;
  const isInstant = isInstantOf(job, atMs);
  // A row for several instants does not cover the times between them. Instants of an earlier schedule are no longer
  // known.
  if (row && (row.scheduled_ms === atMs || isInstant || atMs <= job.sinceMs)) {
    return { ...explainRow(row), occurrence: toOccurrence(row) };
  }
  if (!isInstant)
    return { verdict: 'not-scheduled', because: `${scheduleThen(job, atMs)} has no occurrence at that time.` };
  return atMs > asked.nowMs ? explainFuture(asked) : explainPast(asked);
}

/** Explains why a job has no next instant. */
export const explainIdle = ({ enabled }: Pick<Job, 'enabled'>): Explanation =>
  enabled ? { verdict: 'not-scheduled', because: 'The schedule has no further occurrences.' } : DISABLED;

const DISABLED: Explanation = { verdict: 'disabled', because: 'The job is disabled.' };
const switchedOff = (by: readonly CronSwitch[]): Explanation => ({
  verdict: 'disabled',
  because: `Schedules are switched off here (${by.join(' and ')}): nothing runs automatically.`,
});

const scheduleThen = ({ createdMs, sinceMs }: Job, atMs: number): string =>
  createdMs < atMs && atMs <= sinceMs ? 'The current schedule of the job' : 'The schedule';

const isInstantOf = ({ schedule }: Job, atMs: number): boolean =>
  schedule.kind === 'at' ? schedule.atMs === atMs : nextOf(schedule, atMs - 1) === atMs;

function explainRow(row: CronOccurrenceTable): Explanation {
  const trials = row.attempts > 1 ? ` after ${row.attempts} attempts` : '';
  switch (row.status) {
    case 'claimed':
      return { verdict: 'due', because: 'It is due and waits for a free slot.' };
    case 'started':
      return { verdict: 'running', because: 'It is running.' };
    case 'retrying':
      return { verdict: 'retrying', because: `It failed and will be retried: ${row.error ?? ''}` };
    case 'ok':
      return {
        verdict: 'ok',
        because: `It ran${row.trigger === 'forced' ? ', because a caller requested it' : ''}${trials}.`,
      };
    default: {
      const several = row.count === 1 ? '' : ` (one of ${row.count ?? 'many'} that passed together)`;
      return {
        verdict: row.status,
        because: `${capital(row.error ?? 'No reason was recorded')}${several}${trials}.`,
      };
    }
  }
}

function explainFuture({ job, atMs, switchedOffBy, missing }: Explained): Explanation {
  if (!job.enabled) return DISABLED;
  if (switchedOffBy.length > 0) return switchedOff(switchedOffBy);
  if (job.holdMs !== undefined && atMs < job.holdMs) {
    return {
      verdict: 'skipped',
      because: `It will be skipped: after ${job.failures} errors in a row the job is paused for a while.`,
    };
  }
  if (missing !== undefined)
    return { verdict: 'scheduled', because: `It will run then if it can. ${waitsFor(missing)}` };
  return { verdict: 'scheduled', because: 'It will run at that time.' };
}

/** A job follows the workstream of its runs. */
export const waitsFor = (machine: string): string =>
  `The job waits for ${machine}: that machine has gone, and the working directory of the job's conversation is not on the active one.`;

function explainPast({ job, atMs, nowMs, isRunning, switchedOffBy, keptSinceMs, missing }: Explained): Explanation {
  if (job.schedule.kind !== 'at' && atMs <= job.sinceMs) return explainBefore(job, { atMs, keptSinceMs });
  if (job.handledMs !== undefined && atMs <= job.handledMs) return FORGOTTEN; // handled instants always had a record
  if (!job.enabled) return DISABLED;
  if (switchedOffBy.length > 0) return switchedOff(switchedOffBy);
  if (missing !== undefined) return { verdict: 'due', because: waitsFor(missing) };
  if (isRunning) return { verdict: 'due', because: 'The previous run is still in progress.' };
  const late = Math.round((nowMs - atMs) / 1000);
  return { verdict: 'due', because: `It has been due for ${late} s and waits for a free slot.` };
}

const FORGOTTEN: Explanation = { verdict: 'unknown', because: 'The records of that time have expired.' };

/** For times before the schedule's last change. Only that change is known, not earlier ones. */
function explainBefore(
  { enabled, createdMs }: Job,
  { atMs, keptSinceMs }: Pick<Explained, 'atMs' | 'keptSinceMs'>,
): Explanation {
  if (atMs <= createdMs) return { verdict: 'unknown', because: 'The job was created later.' };
  if (atMs < keptSinceMs) return FORGOTTEN;
  const change = enabled ? 'enabled' : 'disabled';
  return {
    verdict: 'unknown',
    because: `There is no record, because the job was ${change} or got this schedule later.`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
