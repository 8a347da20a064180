import type { AutoApproveReason } from '../../../../protocol/events/approval-item.ts';
import type { CallDecision } from '../../message.ts';
import { type BatchCall, judge, whyNotSandboxed } from '../batch-call.ts';
import type { RunContext } from '../run-context.ts';
import type { ToolRule } from './tool-rules.ts';
import { isAllowed } from './unattended-policy.ts';

/** The names that tool policies match: of the tool, and what its question is called. */
const namesOf = ({ call, prepared }: BatchCall): string[] =>
  prepared.kind === 'ready' && prepared.approvalLabel !== call.name ? [call.name, prepared.approvalLabel] : [call.name];

/** The tool policy that decides about a call now. */
export const ruleFor = (run: RunContext, item: BatchCall): ToolRule | undefined => run.rules(namesOf(item));

/** Whether a tool policy forbids the call. Nothing stands above it: neither auto-approve nor a person. */
export const isForbidden = (run: RunContext, item: BatchCall): boolean => ruleFor(run, item)?.action === 'deny';

/** Whether a person decides about this call itself, and not only about its batch. */
export function isReasonToAsk(run: RunContext, item: BatchCall): boolean {
  if (isForbidden(run, item)) return false;
  return judge(run, item) === 'ask' || (needsApproval(run, item) && autoApproval(run, item) === undefined);
}

/** Whether the call needs approval, apart from standing permissions: as its tool says, or as a tool policy does. */
export const needsApproval = (run: RunContext, item: BatchCall): boolean =>
  item.prepared.kind === 'ready' && (ruleFor(run, item)?.action === 'ask' || item.prepared.needsApproval);

/** Whether the tool itself wants approval for the call. */
const wantsApproval = ({ prepared }: BatchCall): boolean => prepared.kind === 'ready' && prepared.needsApproval;

/** Why a call that needs approval is not a reason to ask; undefined: it is one, or needs none. */
export function autoApproval(run: RunContext, item: BatchCall): AutoApproveReason | undefined {
  const { name } = item.call;
  const action = ruleFor(run, item)?.action;
  if (!needsApproval(run, item)) return undefined;
  if (action === 'allow' && whyNotSandboxed(run, item.call) === undefined) return 'policy';
  if (run.settings.autoApprove) return 'blanket';
  if (action === 'ask') return undefined;
  if (run.settings.approvedTools?.includes(name)) return 'auto_approve_tools';
  return isAllowed(run.policy, name) ? 'job' : undefined;
}

/** How it was decided about a call, as far as its result is stored with it; undefined: as its tool says. */
export function decisionOf(run: RunContext, item: BatchCall): CallDecision | undefined {
  const rule = ruleFor(run, item);
  const [, label] = namesOf(item);
  const auto = isCleared(run) ? autoApproval(run, item) : undefined;
  if (rule === undefined && label === undefined && auto === undefined) return undefined;
  return {
    ...(label !== undefined && { label }),
    ...(auto !== undefined && { auto }),
    ...(rule && { policy: rule.policyId, action: rule.action, wanted: wantsApproval(item) }),
  };
}

/** Whether nobody was asked about the batch. */
const isCleared = ({ progress: { approval } }: RunContext): boolean =>
  approval === undefined || approval.approvalId === '';
