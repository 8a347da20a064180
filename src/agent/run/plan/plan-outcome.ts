import { MOST_REVISIONS, type PlanOutcome } from '../../../../protocol/events/questions/asked-plan.ts';
import type { Decision } from '../journal.ts';
import type { JournaledPlan } from './journaled-plan.ts';

const REJECTING: ReadonlySet<string> = new Set(['', 'n', 'no', 'reject']);

/** What a decision means for the plan that it is about. Nothing but a person revises a plan: a deadline rejects it. */
export function planOutcome(
  { approved, feedback, by }: Decision,
  { round }: Pick<JournaledPlan, 'round'>,
): PlanOutcome {
  if (approved) return 'approved';
  const isRejected = by.kind !== 'principal' || REJECTING.has(feedback.trim().toLowerCase());
  return isRejected || round > MOST_REVISIONS ? 'rejected' : 'revised';
}
