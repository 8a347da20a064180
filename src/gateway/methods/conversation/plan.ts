import { GatewayError } from '../../../../protocol/errors.ts';
import type { PlanOutcome } from '../../../../protocol/events/questions/asked-plan.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Approval } from '../../../../protocol/methods/approval.ts';
import type { planContracts } from '../../../../protocol/methods/conversation/plan.ts';
import type { Decision } from '../../../agent/run/journal.ts';
import { planOutcome } from '../../../agent/run/plan/plan-outcome.ts';
import { type Call, type Handlers, keptOf } from '../../call.ts';
import { deciderOf, mayApprove } from '../../caller.ts';
import type { Approvals } from '../../runs/approvals.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface PlanMethodDeps {
  workstreams: Pick<Workstreams, 'get'>;
  approvals: Pick<Approvals, 'resolveIn'>;
}

type Resolved = Result<'plan.resolve'>;

/** Answers to plans. Whoever may write to a conversation may answer its plan: that runs nothing that would ask. */
export const planMethods = ({ workstreams, approvals }: PlanMethodDeps): Handlers<keyof typeof planContracts> => ({
  async 'plan.resolve'({ wsId, feedback, approvalId }, call) {
    const earlier = keptOf<Resolved>(call);
    if (earlier) return earlier; // what is pending now is another plan
    const viewer = viewerOf(call);
    const workstream = await workstreams.get(wsId, viewer);
    const pending = pendingPlan(workstream, approvalId);
    if (!pending && approvalId === undefined) return { status: 'ok' };
    const decision = toDecision(feedback, call);
    const outcome = pending && outcomeOf(decision, pending);
    if (outcome === 'revised') requireRights(workstream, call);
    const id = pending?.approvalId ?? approvalId ?? '';
    const resolved: Resolved = { status: 'ok', approvalId: id, ...(outcome && { outcome }) };
    const also = () => [...call.keep(resolved), ...call.audited({ id, wsId, ...(outcome && { outcome }) })];
    await approvals.resolveIn(workstream, decision, { approvalId: id, viewer, also });
    return resolved;
  },
});

/** Throws CONFLICT if the named question is another one: a caller who may answer plans may not answer all questions. */
function pendingPlan({ current }: Workstream, approvalId: string | undefined): Approval | undefined {
  const pending = current?.pendingApproval();
  if (pending?.kind === 'plan')
    return approvalId === undefined || approvalId === pending.approvalId ? pending : undefined;
  if (pending && pending.approvalId === approvalId)
    throw new GatewayError('CONFLICT', `This question is about ${pending.kind}, not about a plan`);
  return undefined;
}

function toDecision(feedback: string, call: Pick<Call, 'principal'>): Decision {
  const words = feedback.trim();
  // Blank words are no consent: only the empty string is.
  const approved = feedback === '';
  return { approved, feedback: words, always: false, by: deciderOf(call) };
}

const outcomeOf = (decision: Decision, { items }: Approval): PlanOutcome =>
  planOutcome(decision, { round: items[0]?.plan?.round ?? 1 });

/** The words become part of the run, so they must not come from somebody with fewer rights than it has (decision 18). */
function requireRights({ current }: Workstream, call: Pick<Call, 'principal'>): void {
  if (mayApprove(call) || current?.run.request.rights !== 'approve') return;
  throw new GatewayError(
    'FORBIDDEN',
    'Only callers who may approve can ask for changes of this plan, because its run has more rights than you. Approve or reject it.',
  );
}
