import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { BudgetQuestion } from '../../../protocol/run-outcome.ts';
import type { QuestionKind } from '../../../protocol/stream-events.ts';
import { askedMore, explainBudget } from '../../../protocol/text/budget-words.ts';

/** The pseudo call by which HTTP clients know a question about a budget. */
export const BUDGET_CALL = '__budget_override__';

interface Asked {
  kind: QuestionKind;
  items: ApprovalItem[];
  budget?: BudgetQuestion | undefined;
}

/**
 * The items of a question as HTTP clients see them. Clients of later releases show a question by its items, so one about
 * a budget has a pseudo call there (decision 52). Logs, rows and WebSockets do not have it: their clients know the kind.
 */
export const withBudgetCall = ({ kind, items, budget }: Asked): ApprovalItem[] =>
  kind === 'budget' && items.length === 0 ? [toItem(budget)] : items;

const toItem = (budget: BudgetQuestion | undefined): ApprovalItem => ({
  call_id: BUDGET_CALL,
  header: budget ? askedMore(budget) : 'Continue beyond the budget?',
  preview: budget ? explainBudget(budget) : '',
  func_name: BUDGET_CALL,
  approval_label: BUDGET_CALL,
  needs_approval: true,
  error: null,
});
