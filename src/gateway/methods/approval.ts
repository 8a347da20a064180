import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { approvalContracts } from '../../../protocol/methods/approval.ts';
import type { Call, Handlers } from '../call.ts';
import { deciderOf } from '../caller.ts';
import { toRuleRecord } from '../rules/rule-record.ts';
import type { Approvals } from '../runs/approvals.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Statement } from '../store/store.ts';

export const approvalMethods = (approvals: Approvals): Handlers<keyof typeof approvalContracts> => ({
  'approval.list': async ({ wsId }, call) => ({ approvals: await approvals.listAsked(viewerOf(call), wsId) }),
  'approval.resolve': async ({ approvalId, approved, feedback = '', always = false, decisions, rules }, call) => {
    const decision = { approved, feedback: feedback.trim(), always, by: deciderOf(call), decisions, choices: rules };
    const also = (wsId: string, given: readonly Rule[]) =>
      recordOf(call, { id: approvalId, wsId, approved, always, given });
    await approvals.resolve(approvalId, decision, { viewer: viewerOf(call), also });
    return { ok: true, approvalId, approved };
  },
});

/** A decision; `always` also turns on auto-approve of the workstream, which has a record of its own. */
export const recordOf = (
  call: Pick<Call, 'audited'>,
  {
    wsId,
    given,
    ...decision
  }: { id: string; wsId: string; approved: boolean; always: boolean; given: readonly Rule[] },
): Statement[] => [
  ...call.audited(decision),
  ...given.flatMap((rule) => call.audited({ as: 'rule.create', ...toRuleRecord(rule) })),
  ...(decision.approved && decision.always
    ? call.audited({ as: 'workstream.allow', id: wsId, autoApprove: true, approvalId: decision.id })
    : []),
];
