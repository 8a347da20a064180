import { hasExpired } from '../../agent/run/approval/approval-expiry.ts';
import { isWithdrawn } from '../../agent/run/inputs/withdraw.ts';
import type { AskedApproval, Decision } from '../../agent/run/journal.ts';
import { planOutcome } from '../../agent/run/plan/plan-outcome.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { type Always, toAlwaysColumns } from '../workstreams/always.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

interface Decided {
  approvalId: string;
  callIds: string[];
  /** Auto-approve that was granted with the decision. */
  given: Always | undefined;
  /** If it is about a plan. */
  plan?: AskedApproval['plan'];
}

/** The step that records the decision of a pending approval. */
export function decisionStep(
  data: Pick<WorkstreamData, 'wsId' | 'settingsEvent'>,
  { approvalId, callIds, given, plan }: Decided,
  decision: Decision,
): Step {
  const { approved, feedback, by, denied = {}, rules = [] } = decision;
  const deniedIds = Object.keys(denied);
  const always = given !== undefined;
  return {
    events: [
      {
        type: 'approval_resolved',
        approval_id: approvalId,
        approved,
        feedback,
        by,
        always,
        call_ids: callIds,
        ...(deniedIds.length > 0 && { denied_call_ids: deniedIds }),
        ...(rules.length > 0 && { rule_ids: rules }),
        ...(plan && !isWithdrawn(decision) && { plan: planOutcome(decision, plan) }),
      },
      ...(given ? [data.settingsEvent(toAlwaysColumns(given))] : []),
      { type: 'ws_state', ws_id: data.wsId, state: 'running' },
    ],
    journal: [{ kind: 'approval_decided', approvalId, decision: { ...decision, always } }],
    settled: { approvalId, status: statusOf(decision), deniedCallIds: deniedIds, by, feedback, always },
    durable: true,
  };
}

function statusOf(decision: Decision): 'approved' | 'denied' | 'expired' {
  if (decision.approved) return 'approved';
  return hasExpired(decision) ? 'expired' : 'denied';
}
