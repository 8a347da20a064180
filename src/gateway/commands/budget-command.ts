import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { usageContracts } from '../../../protocol/methods/usage.ts';
import type { BudgetState } from '../../../protocol/run-outcome.ts';
import { amountOf, budgetOf } from '../../../protocol/text/budget-words.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { CommandCaller } from './command.ts';

/** `/budget`: shows the budgets that hold here, or replaces that of this workstream. The answer goes to `say`. */
export const createBudgetCommand =
  (budgets: Pick<Budgets, 'list'>, say: (to: Workstream, text: string) => Promise<void>) =>
  async (argument: string, workstream: Workstream, { call }: CommandCaller): Promise<void> => {
    const { wsId } = workstream.data;
    if (argument !== '') await call.perform('budget.set', { wsId, ...toLimit(argument, wsId) });
    const states = await budgets.list({ wsId, runId: workstream.current?.run.runId });
    await say(workstream, states.length === 0 ? NONE : states.map(toLine).join('\n'));
  };

const NONE = 'No budget holds for this workstream. /budget 200000 or /budget $2 sets one.';

/** Throws INVALID_REQUEST. */
function toLimit(argument: string, wsId: string): { tokens?: number | undefined; usd?: number | undefined } {
  if (argument.toLowerCase() === 'off') return {};
  const { tokens, dollars, usd = dollars } = AMOUNT.exec(argument)?.groups ?? {};
  const amount = Number((tokens ?? usd ?? '').replaceAll(/[,_]/g, ''));
  const given = tokens === undefined ? { usd: amount } : { tokens: amount };
  const { data } = usageContracts['budget.set'].params().safeParse({ wsId, ...given });
  if (!data) {
    const right = 'from 1 to 1000000000000 tokens, or up to $1000000';
    throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('budget')}: 200000, $2, 2 USD or off (${right})`);
  }
  const { tokens: tokenLimit, usd: usdLimit } = data;
  return { tokens: tokenLimit, usd: usdLimit };
}

const AMOUNT =
  /^(?:(?<tokens>\d[\d,_]*)(?:\s*tokens)?|\$\s*(?<dollars>\d[\d,_]*(?:\.\d+)?)|(?<usd>\d[\d,_]*(?:\.\d+)?)\s*usd)$/i;

const toLine = (budget: BudgetState): string =>
  `${budgetOf(budget)}: ${amountOf(budget.spent, budget)} used${isDaily(budget) ? ', until 00:00 UTC' : ''}.`;

const isDaily = ({ of }: BudgetState): boolean => of !== 'run' && of !== 'workstream';
