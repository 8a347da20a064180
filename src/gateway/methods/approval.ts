import type { approvalContracts } from '../../../protocol/methods/approval.ts';
import type { Handlers } from '../call.ts';
import { deciderOf } from '../caller.ts';
import type { Approvals } from '../runs/approvals.ts';
import { viewerOf } from '../sharing/perception.ts';

export const approvalMethods = (approvals: Approvals): Handlers<keyof typeof approvalContracts> => ({
  'approval.list': ({ wsId }, call) => ({ approvals: approvals.list(viewerOf(call), wsId) }),
  'approval.resolve': async ({ approvalId, approved, feedback = '', always = false }, call) => {
    const decision = { approved, feedback: feedback.trim(), always, by: deciderOf(call) };
    await approvals.resolve(approvalId, decision, { viewer: viewerOf(call), also: call.audited({ approved, always }) });
    return { ok: true, approvalId, approved };
  },
});
