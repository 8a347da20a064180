import { RequestError } from '../../../protocol/client/request-error.ts';
import { type Issue, issuesOf } from '../../../protocol/parse.ts';
import { describeDuration } from '../../duration.ts';
import { UsageError } from '../../start-error.ts';

/** The flag for a field of a job; `says` replaces the daemon's message. */
interface FlagWords {
  flag: string;
  says?: string;
  /** For a duration: the unit of its limit, in milliseconds. */
  unitMs?: number;
}

type Change = 'add' | 'edit';

const MESSAGE = { add: '<message>', edit: '--message' };
const ONE_TIME = 'is for one-time schedules, such as "at 18:00"';

const flagsFor = (change: Change): ReadonlyMap<string, FlagWords> =>
  new Map([
    ['payload.message', { flag: MESSAGE[change] }],
    ['payload.text', { flag: MESSAGE[change] }],
    ['schedule.expr', { flag: 'The schedule' }],
    ['payload.thinking', { flag: '--thinking', says: 'must be off, minimal, low, medium or high' }],
    ['payload.timeoutSeconds', { flag: '--timeout', unitMs: 1_000 }],
    ['name', { flag: '--name' }],
    ['misfire.within', { flag: '--misfire within', unitMs: 1 }],
    ['maxRunMs', { flag: '--max-run', unitMs: 1 }],
    ['approval.tools', { flag: '--approval allow' }],
    ['approval.timeoutMs', { flag: '--approval wait', unitMs: 1 }],
    ['isolation.postToMainPrefix', { flag: '--prefix' }],
    [
      'deleteAfterRun',
      {
        flag: '--delete-after-run',
        says: change === 'add' ? ONE_TIME : `${ONE_TIME}; undo it with --no-delete-after-run`,
      },
    ],
    ['enabled', { flag: '--enable', says: 'the only time of the job is over; set a new one with --schedule' }],
  ]);

/** Turns the daemon's refusal of a job into wrong usage of the typed flags; returns other errors unchanged. */
export function toUsage(error: unknown, change: Change): unknown {
  if (!(error instanceof RequestError) || error.code !== 'INVALID_REQUEST') return error;
  const words = flagsFor(change);
  const said = issuesOf(error.details).map((issue) => sayWith(words, issue));
  if (said.length === 0 || said.includes(undefined)) return error;
  return new UsageError(`${said.join('; ')}.`, { cause: error });
}

function sayWith(words: ReadonlyMap<string, FlagWords>, issue: Issue): string | undefined {
  const known = words.get(issue.path.replace(/^patch\./, '').replace(/\.\d+$/, '')); // an error in a list entry is reported for the list
  if (known === undefined) return undefined;
  const { flag, unitMs, says = issue.message } = known;
  return `${flag}: ${(unitMs !== undefined && sayLimit(issue, unitMs)) || says}`;
}

function sayLimit({ limit, bound }: Issue, unitMs: number): string | undefined {
  if (limit === undefined || bound === undefined) return undefined;
  return `must be at ${bound === 'max' ? 'most' : 'least'} ${describeDuration(limit * unitMs)}`;
}
