import type { CronSwitch } from '../../../protocol/cron.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { nextOf } from '../../cron/schedule/next-of.ts';
import type { CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import { toOccurrence } from './to-wire.ts';

type Explanation = Omit<Result<'cron.explain'>, 'jobId' | 'atMs' | 'previousAtMs' | 'nextAtMs'>;

export interface Explained {
  job: Job;
  /** The instant that is asked about. */
  atMs: number;
  /** What the ledger has for it. */
  row: CronOccurrenceTable | undefined;
  nowMs: number;
  isRunning: boolean;
  /** What keeps schedules from running by themselves here. */
  switchedOffBy: readonly CronSwitch[];
  /** Older rows are forgotten. */
  keptSinceMs: number;
}

/** Why a job did or did not run at an instant. */
export function explain(asked: Explained): Explanation {
  const { job, row, atMs } = asked;
  const isInstant = isInstantOf(job, atMs);
  // A row for several instants says nothing of the times between them; what another schedule meant is not known any more.
  if (row && (row.scheduled_ms === atMs || isInstant || atMs <= job.sinceMs)) {
    return { ...explainRow(row), occurrence: toOccurrence(row) };
  }
  if (!isInstant) return { verdict: 'not-scheduled', because: `${scheduleThen(job, atMs)} has no instant then.` };
  return atMs > asked.nowMs ? explainFuture(asked) : explainPast(asked);
}

/** Why a job waits for no instant at all. */
export const explainIdle = ({ enabled }: Pick<Job, 'enabled'>): Explanation =>
  enabled ? { verdict: 'not-scheduled', because: 'The schedule has no instant left.' } : DISABLED;

const DISABLED: Explanation = { verdict: 'disabled', because: 'The job is disabled.' };
const switchedOff = (by: readonly CronSwitch[]): Explanation => ({
  verdict: 'disabled',
  because: `Schedules are switched off here (${by.join(' and ')}): nothing runs by itself.`,
});

const scheduleThen = ({ createdMs, sinceMs }: Job, atMs: number): string =>
  createdMs < atMs && atMs <= sinceMs ? 'The schedule that the job has now' : 'The schedule';

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
      return { verdict: 'retrying', because: `It failed and is tried again: ${row.error ?? ''}` };
    case 'ok':
      return {
        verdict: 'ok',
        because: `It ran${row.trigger === 'forced' ? ', because somebody asked for it' : ''}${trials}.`,
      };
    default: {
      const several = row.count === 1 ? '' : ` (one of ${row.count ?? 'many'} that passed together)`;
      return {
        verdict: row.status,
        because: `${capital(row.error ?? 'There is no reason on record')}${several}${trials}.`,
      };
    }
  }
}

function explainFuture({ job, atMs, switchedOffBy }: Explained): Explanation {
  if (!job.enabled) return DISABLED;
  if (switchedOffBy.length > 0) return switchedOff(switchedOffBy);
  if (job.holdMs !== undefined && atMs < job.holdMs) {
    return {
      verdict: 'skipped',
      because: `It will be skipped: after ${job.failures} errors in a row the job is left alone for a while.`,
    };
  }
  return { verdict: 'scheduled', because: 'It is to run then.' };
}

function explainPast({ job, atMs, nowMs, isRunning, switchedOffBy, keptSinceMs }: Explained): Explanation {
  if (job.schedule.kind !== 'at' && atMs <= job.sinceMs) return explainBefore(job, { atMs, keptSinceMs });
  if (job.handledMs !== undefined && atMs <= job.handledMs) return FORGOTTEN; // every one of these had its row
  if (!job.enabled) return DISABLED;
  if (switchedOffBy.length > 0) return switchedOff(switchedOffBy);
  if (isRunning) return { verdict: 'due', because: 'The run before is still going.' };
  const late = Math.round((nowMs - atMs) / 1000);
  return { verdict: 'due', because: `It is due for ${late} s and waits for a free slot.` };
}

const FORGOTTEN: Explanation = { verdict: 'unknown', because: 'The history of that time is not kept any more.' };

/** Before the schedule was as it is: only the last change is known, not those before it. */
function explainBefore(
  { enabled, createdMs }: Job,
  { atMs, keptSinceMs }: Pick<Explained, 'atMs' | 'keptSinceMs'>,
): Explanation {
  if (atMs <= createdMs) return { verdict: 'unknown', because: 'The job was made only after that.' };
  if (atMs < keptSinceMs) return FORGOTTEN;
  const change = enabled ? 'enabled' : 'disabled';
  return {
    verdict: 'unknown',
    because: `Nothing is on record; the job was last ${change}, or given this schedule, only after that.`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
