import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { StreamEventOf } from '../../../protocol/stream-events.ts';

type PlanReview = Extract<TransientEvent, { type: 'plan_review' }>;
type PlanResolved = Extract<TransientEvent, { type: 'plan_resolved' }>;

/** A question about a plan as HTTP clients know it; undefined for other questions. */
export function asPlanReview({
  items,
  approval_id,
  expires_at_ms,
}: StreamEventOf<'approve_request'>): PlanReview | undefined {
  const [item] = items;
  if (!item?.plan) return undefined;
  const { call_id, subject = '', plan } = item;
  return { type: 'plan_review', ...plan, goal: subject, call_id, approval_id, cycle_id: approval_id, expires_at_ms };
}

/** The decision about a plan as HTTP clients know it; undefined for other decisions. */
export function asPlanResolved({
  plan: outcome,
  approval_id,
  feedback,
  by,
  call_ids: [call_id = ''],
}: StreamEventOf<'approval_resolved'>): PlanResolved | undefined {
  return outcome && { type: 'plan_resolved', outcome, feedback, by, call_id, approval_id, cycle_id: approval_id };
}
