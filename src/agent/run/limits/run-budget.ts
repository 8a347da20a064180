import type { BudgetQuestion } from '../../../../protocol/run-outcome.ts';
import type { Model, Usage } from '../../providers/model.ts';
import type { CallSize } from './call-size.ts';

/** The budgets that hold for a run. */
export interface RunBudget {
  /** Whether any budget holds for calls of the model. */
  isLimited(model: BudgetedCall['model']): boolean;
  /**
   * Waits until the call fits into all budgets, and then holds what it may cost. `exhausted`: a budget is used up.
   * Rejects with the signal's reason.
   */
  reserve(call: BudgetedCall, signal: AbortSignal): Promise<Held | Exhausted>;
  /** Whether, after the latest call, a budget has room for only one more like it. */
  isShort(): boolean;
}

export interface BudgetedCall {
  model: Pick<Model, 'provider' | 'modelId' | 'price'>;
  size(): CallSize;
}

/** What a call holds of the budgets, from its start until its usage is recorded. */
export interface Held {
  kind: 'held';
  /** Whether another request may follow in the same turn, if the first one used this. */
  covers(used: Usage): boolean;
  /** Call it after the usage is recorded; `used` is undefined if it is unknown. */
  release(used: Usage | undefined): void;
}

export interface Exhausted {
  kind: 'exhausted';
  question: BudgetQuestion;
}

/** For runs without budgets. */
export const NO_BUDGET: RunBudget = {
  isLimited: () => false,
  reserve: async () => ({ kind: 'held', covers: () => true, release: () => undefined }),
  isShort: () => false,
};
