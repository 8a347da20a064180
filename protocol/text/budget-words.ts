import type { BudgetQuestion, BudgetScope, BudgetState } from '../run-outcome.ts';

type Amount = Pick<BudgetState, 'unit'>;

/** An amount of a budget, such as `12,000 tokens` or `$0.50`. */
export function amountOf(amount: number, { unit }: Amount): string {
  if (unit === 'tokens') return `${Math.round(amount).toLocaleString('en-US')} tokens`;
  const digits = amount !== 0 && amount < 0.1 ? 4 : 2;
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** The budget in a few words, such as `The budget of this workstream (12,000 tokens)`. */
export const budgetOf = ({ of, key, limit, unit }: BudgetState): string =>
  `The budget of ${OWNERS[of](key)} (${amountOf(limit, { unit })})`;

/** A warning before it is used up. */
export const nearlyUsed = (state: BudgetState): string =>
  `${budgetOf(state)} is ${Math.floor((100 * state.spent) / state.limit)}% used.`;

/** What a person can do about a budget that is used up. */
export function remedyFor({ of }: Pick<BudgetState, 'of'>): string {
  if (of === 'workstream') return 'Raise it with /budget, or with budgets.workstream in config.json.';
  const setting = `budgets.${of} in config.json`;
  return of === 'run' ? `Raise it with ${setting}.` : `It starts again at 00:00 UTC. Raise it with ${setting}.`;
}

const OWNERS: Record<BudgetScope, (key: string) => string> = {
  run: () => 'this run',
  workstream: () => 'this workstream',
  principal: () => 'this caller for today',
  model: (key) => `${key} for today`,
  day: () => 'today',
};

/** Why a person is asked, and what happens without more. */
export function explainBudget(question: BudgetQuestion): string {
  const used = `${budgetOf(question)} is used up: ${amountOf(question.spent, question)}.`;
  const { lastAnswer, unit } = question;
  if (lastAnswer === undefined) return used;
  return `${used} If you stop here, a short last answer may still use up to ${amountOf(lastAnswer, { unit })}.`;
}

/** The question to a person. */
export const askedMore = ({ more, unit }: BudgetQuestion): string => `Continue with ${amountOf(more, { unit })} more?`;
