import type { BudgetScope } from '../../../protocol/run-outcome.ts';

/** Names one budget. */
export interface BudgetKey {
  of: BudgetScope;
  key: string;
  /** Empty for runs and workstreams, whose budgets have no day. */
  day: string;
}

/** What a budget allows; without either it allows everything. */
export interface BudgetLimit {
  tokens?: number | undefined;
  usd?: number | undefined;
}

/** The budgets of config.json. */
export type BudgetSettings = Partial<Record<BudgetScope, BudgetLimit | undefined>>;
