import type { BudgetQuestion, BudgetScope, BudgetState } from '../../../protocol/run-outcome.ts';
import type { Usage } from '../../agent/providers/model.ts';
import { microCostOf } from '../../agent/providers/prices/cost.ts';
import { lastCallOf } from '../../agent/run/limits/call-size.ts';
import type { BudgetedCall } from '../../agent/run/limits/run-budget.ts';
import type { BudgetKey, BudgetLimit } from './budget-key.ts';

/** One limit of a budget, in tokens or in millionths of a US dollar. */
export interface Line extends BudgetKey {
  unit: BudgetState['unit'];
  limit: number;
  spent: number;
  /** What its average call used; 0 if there was none. */
  usual: number;
  /** What the limit was before persons added to it. */
  base: number;
}

/** A limit of which nothing was read yet. */
export type LimitOnly = Omit<Line, 'spent' | 'usual'>;

/** Names the line. */
export const idOf = ({ of, key, day, unit }: BudgetKey & Pick<Line, 'unit'>): string =>
  JSON.stringify([of, key, day, unit]);

/** The tokens or the cost of a call. */
export const amountOf = (usage: Usage, { unit }: Pick<Line, 'unit'>, { model }: BudgetedCall): number => {
  if (unit === 'tokens') return usage.promptTokens + usage.completionTokens;
  return model.price ? microCostOf(usage, model.price) : 0;
};

/** Whether there is room for less than two more calls like the latest one. */
export const isShort = (line: Line, { call, used }: { call: BudgetedCall; used: Usage }): boolean => {
  const amount = amountOf(used, line, call);
  return line.limit - line.spent - amount < 2 * amount;
};

/**
 * Asks for a quarter of the budget, or for two more calls if that is more. A person who declines leaves a tenth for last
 * answers, or enough for one. `used`: by the run's previous call.
 */
export function toQuestion(line: Line, call: BudgetedCall, used: Usage | undefined): BudgetQuestion {
  const { unit, limit, spent, base } = line;
  const size = call.size();
  const next = used ? amountOf(used, line, call) : line.usual || amountOf(size.expected, line, call);
  const last = amountOf(lastCallOf(size).most, line, call);
  const step = unit === 'tokens' ? 1_000 : 10_000;
  const rounded = (amount: number) => fromUnits(Math.ceil(amount / step) * step, unit);
  const more = rounded(spent - limit + Math.max(base / 4, 2 * next));
  return {
    ...toState(line),
    ...(hasDay(line.of) && { day: line.day }),
    more,
    lastAnswer: rounded(Math.max(base * LAST_SHARE, last)),
  };
}

/** For the last answers of runs whose person declined to spend more. */
const LAST_SHARE = 0.1;

/** How far the last answers after a declined question may go. Other budgets may be exceeded by as small a share. */
export function lastLimitOf(line: Line, declined: BudgetQuestion): number {
  const isMeant = line.of === declined.of && line.key === declined.key && line.unit === declined.unit;
  if (!isMeant) return line.limit + line.base * LAST_SHARE;
  return toUnits(declined.spent + (declined.lastAnswer ?? 0), line.unit);
}

export const toState = ({ of, key, unit, limit, spent }: Line): BudgetState => ({
  of,
  key,
  unit,
  limit: fromUnits(limit, unit),
  spent: fromUnits(spent, unit),
});

/** Runs and workstreams have no day; what the others count begins anew with each. */
export const hasDay = (of: BudgetScope): boolean => of !== 'run' && of !== 'workstream';

/** The limits of a budget. */
export function toLines(budget: BudgetKey, { tokens, usd }: BudgetLimit): LimitOnly[] {
  const lines: LimitOnly[] = [];
  if (tokens !== undefined) lines.push({ ...budget, unit: 'tokens', limit: tokens, base: tokens });
  if (usd !== undefined) lines.push({ ...budget, unit: 'usd', limit: toMicro(usd), base: toMicro(usd) });
  return lines;
}

export const toMicro = (usd: number): number => Math.round(usd * 1_000_000);
const fromUnits = (amount: number, unit: Line['unit']): number => (unit === 'usd' ? amount / 1_000_000 : amount);
const toUnits = (amount: number, unit: Line['unit']): number => (unit === 'usd' ? toMicro(amount) : amount);

export const toLimit = (tokens: number | null, micro: number | null): BudgetLimit => ({
  ...(tokens !== null && { tokens }),
  ...(micro !== null && { usd: micro / 1_000_000 }),
});
