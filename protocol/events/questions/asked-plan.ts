import { z } from 'zod';

/** How often a person may ask for another plan. */
export const MOST_REVISIONS = 5;

/** A plan that waits for a person. */
export const AskedPlan = z.object({
  /** Markdown, with the headings Goal, Current State, Plan and Risks. */
  content: z.string(),
  /** 1 for the first plan, and one more for each revision. */
  round: z.int().min(1),
  /** How many revisions may still be asked for; at 0, every feedback rejects the plan. */
  revisions_left: z.int().min(0),
});
export type AskedPlan = z.infer<typeof AskedPlan>;

/** What a person decided about a plan. `revised`: another one follows. */
export const PlanOutcome = z.enum(['approved', 'rejected', 'revised']);
export type PlanOutcome = z.infer<typeof PlanOutcome>;
