import type { RunLimit } from '../../../../protocol/run-outcome.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import type { ToolResult } from '../result-step.ts';
import type { RunContext, RunLimits } from '../run-context.ts';
import { isStuck } from './repeats.ts';

/** A run with more model turns than this is likely in a loop. */
const MAX_TURNS = 200;
/** The limits of a run that is no sub-agent. */
export const USUAL_LIMITS: RunLimits = { turns: MAX_TURNS, isOutOfTokens: () => false };
/** So many turns in a row may consist only of calls that were stopped as repetitions. */
const MAX_STUCK_TURNS = 5;

/** Whether the run has used all its turns. */
export const hasNoTurnLeft = ({ progress, limits }: Pick<RunContext, 'progress' | 'limits'>): boolean =>
  progress.turns >= limits.turns;

/** How the end of the run is described. */
export const limitText = (limit: RunLimit, { turns }: Pick<RunLimits, 'turns'>): string =>
  limit === 'turns' ? `The run was ended after ${turns} model turns.` : LIMIT_TEXTS[limit];

const LIMIT_TEXTS: Record<Exclude<RunLimit, 'turns'>, string> = {
  time: 'The run was ended shortly before its time limit.',
  budget: 'The run was ended shortly before its budget was used up, because nobody is there to allow more.',
  repeats: `The run was ended because the model kept repeating calls that no longer run (${MAX_STUCK_TURNS} turns in a row).`,
};

/**
 * What the model reads when its next answer is the last of the run. It reads this with a result, and keeps its tools,
 * because the conversation so far must not change.
 */
const wrapUpText = (limit: RunLimit, { turns, isOutOfTokens }: RunLimits): string => {
  if (limit === 'turns') return `this run has reached its limit of ${turns} model turns. ${LAST_ANSWER}`;
  if (limit === 'budget' && isOutOfTokens()) return `you have used up the tokens of this task. ${LAST_ANSWER}`;
  return WRAP_UP[limit];
};

const LAST_ANSWER =
  'Your next answer is the last one, and no further calls are run. Say what is done, what is left, and how to continue.';

const WRAP_UP: Record<Exclude<RunLimit, 'turns'>, string> = {
  time: 'this run has almost reached its time limit. Your next answer is the last one, and no further calls are run. Say at once what is done, what is left, and how to continue.',
  budget: `this run has almost used up its budget, and nobody is there to allow more. ${LAST_ANSWER}`,
  repeats:
    'this run only repeats calls, so it ends. Your next answer is the last one, and no further calls are run. Say what is done, what is left, and what stopped you.',
};

/** What the model reads after a person declined to spend more. */
export const DECLINED_NOTICE =
  'The budget of this run is used up, and a person decided not to spend more. Your next answer is the last one of this run, must be short, and no further calls are run. Say what is done, what is left, and how to continue.';

type Limited = Pick<RunContext, 'progress' | 'limits' | 'isTimeShort' | 'budget' | 'policy' | 'isWatched'>;

/** Marks the result after which the model is told to finish: that of the turn's last call, once a limit is reached. */
export function noteLimit(run: Limited, results: readonly ToolResult[]): ToolResult[] {
  const last = run.progress.calls.at(-1)?.id;
  const limit = limitAfter(run, results);
  if (limit === undefined) return [...results];
  const wrapUp = { limit, notice: wrapUpText(limit, run.limits) };
  return results.map((result) => (result.call.id === last ? { ...result, wrapUp } : result));
}

function limitAfter(run: Limited, results: readonly ToolResult[]): RunLimit | undefined {
  const { progress, limits, isTimeShort, budget } = run;
  const { turns, calls, repeats } = progress;
  if (turns >= limits.turns - 1) return 'turns';
  if (limits.isOutOfTokens()) return 'budget';
  const stopped = repeats.stopped + results.filter(({ trace }) => trace?.kind === 'stopped').length;
  if (isStuck({ ...repeats, stopped }, calls.length) && repeats.stuckTurns + 1 >= MAX_STUCK_TURNS) return 'repeats';
  if (isTimeShort()) return 'time';
  // With a person, the question comes when the budget is used up.
  return budget.isShort() && policyInForce(run) ? 'budget' : undefined;
}
