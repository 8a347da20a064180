/** A budget is used up, and nobody agreed to spend more. Its message says which and why. */
export class BudgetUsedUp extends Error {
  override readonly name = 'BudgetUsedUp';
}
