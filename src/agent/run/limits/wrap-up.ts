import type { RunLimit } from '../../../../protocol/run-outcome.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import type { Progress } from '../journal.ts';
import type { ToolResult } from '../result-step.ts';
import type { RunContext } from '../run-context.ts';
import { isStuck } from './repeats.ts';

/** A run with more model turns than this is likely in a loop. */
const MAX_TURNS = 200;
/** So many turns in a row may consist only of calls that were stopped as repetitions. */
const MAX_STUCK_TURNS = 5;

/** Whether the run has used all its turns. */
export const hasNoTurnLeft = ({ turns }: Progress): boolean => turns >= MAX_TURNS;

/** How the end of the run is described. */
export const LIMIT_TEXTS: Record<RunLimit, string> = {
  turns: `The run was ended after ${MAX_TURNS} model turns.`,
  time: 'The run was ended shortly before its time limit.',
  budget: 'The run was ended shortly before its budget was used up, because nobody is there to allow more.',
  repeats: `The run was ended because the model kept repeating calls that no longer run (${MAX_STUCK_TURNS} turns in a row).`,
};

/**
 * What the model reads when its next answer is the last of the run. It reads this with a result, and keeps its tools,
 * because the conversation so far must not change.
 */
const WRAP_UP: Record<RunLimit, string> = {
  turns: `this run has reached its limit of ${MAX_TURNS} model turns. Your next answer is the last one, and no further calls are run. Say what is done, what is left, and how to continue.`,
  time: 'this run has almost reached its time limit. Your next answer is the last one, and no further calls are run. Say at once what is done, what is left, and how to continue.',
  budget:
    'this run has almost used up its budget, and nobody is there to allow more. Your next answer is the last one, and no further calls are run. Say what is done, what is left, and how to continue.',
  repeats:
    'this run only repeats calls, so it ends. Your next answer is the last one, and no further calls are run. Say what is done, what is left, and what stopped you.',
};

/** What the model reads after a person declined to spend more. */
export const DECLINED_NOTICE =
  'The budget of this run is used up, and a person decided not to spend more. Your next answer is the last one of this run, must be short, and no further calls are run. Say what is done, what is left, and how to continue.';

type Limited = Pick<RunContext, 'progress' | 'isTimeShort' | 'budget' | 'policy' | 'isWatched'>;

/** Marks the result after which the model is told to finish: that of the turn's last call, once a limit is reached. */
export function noteLimit(run: Limited, results: readonly ToolResult[]): ToolResult[] {
  const last = run.progress.calls.at(-1)?.id;
  const limit = limitAfter(run, results);
  if (limit === undefined) return [...results];
  const wrapUp = { limit, notice: WRAP_UP[limit] };
  return results.map((result) => (result.call.id === last ? { ...result, wrapUp } : result));
}

function limitAfter(run: Limited, results: readonly ToolResult[]): RunLimit | undefined {
  const { progress, isTimeShort, budget } = run;
  const { turns, calls, repeats } = progress;
  if (turns >= MAX_TURNS - 1) return 'turns';
  const stopped = repeats.stopped + results.filter(({ trace }) => trace?.kind === 'stopped').length;
  if (isStuck({ ...repeats, stopped }, calls.length) && repeats.stuckTurns + 1 >= MAX_STUCK_TURNS) return 'repeats';
  if (isTimeShort()) return 'time';
  // With a person, the question comes when the budget is used up.
  return budget.isShort() && policyInForce(run) ? 'budget' : undefined;
}
