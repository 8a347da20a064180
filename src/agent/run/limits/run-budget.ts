import type { BudgetQuestion, BudgetState } from '../../../../protocol/run-outcome.ts';
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
  /**
   * The same for the last call of a run whose person declined to spend more. It may use what the question says.
   * Undefined if that is not enough.
   */
  reserveLast(call: BudgetedCall, declined: BudgetQuestion, signal: AbortSignal): Promise<Held | undefined>;
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
  /** The budgets that are nearly used up, unless that was reported before. */
  near?: BudgetState[];
  /** Whether another request may follow in the same turn, if the first one used this. */
  covers(used: Usage): boolean;
  /** Call it after the usage is recorded; `used` is undefined if it is unknown. */
  release(used: Usage | undefined): void;
  /** Another call takes its place. */
  drop(): void;
}

export interface Exhausted {
  kind: 'exhausted';
  question: BudgetQuestion;
  /** Takes part in the question to a person. Undefined if it was answered just now: then look for room again. */
  join(expiresAtMs: number): SharedQuestion | undefined;
}

/** A question about a budget. All runs that meet the budget share it, and one answer decides for all of them. */
export interface SharedQuestion {
  approvalId: string;
  budget: BudgetQuestion;
  /** Later, if the one who stores it had to wait for its turn to ask. */
  readonly expiresAtMs: number;
  /**
   * Records that the run waits for it. The first run stores the question, and the others wait for that. False if
   * it could not be stored: then look for room again. Rejects if the signal aborts before the run records anything.
   */
  ask(record: (options: { isFirst: boolean }) => Promise<void>, signal: AbortSignal): Promise<boolean>;
}

/** For runs without budgets. */
export const NO_BUDGET: RunBudget = {
  isLimited: () => false,
  reserve: async () => HELD,
  reserveLast: async () => HELD,
  isShort: () => false,
};

const HELD: Held = { kind: 'held', covers: () => true, release: () => undefined, drop: () => undefined };
