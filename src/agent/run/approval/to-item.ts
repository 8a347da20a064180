import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { toCallEffects } from '../../permissions/call-effects.ts';
import { type BatchCall, judge, whyNotSandboxed } from '../batch-call.ts';
import { timesOf } from '../limits/repeats.ts';
import { blockedByPolicy } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { autoApproval, isForbidden, needsApproval, ruleFor } from './call-need.ts';

/** The call as shown to people; `refused`: why it is not run. */
export function toItem(run: RunContext, item: BatchCall, refused?: string): ApprovalItem {
  const { call, prepared, keys } = item;
  const notSandboxed = whyNotSandboxed(run, call);
  const { subject } = prepared;
  const ready = prepared.kind === 'ready' ? prepared : undefined;
  const isRepeated = judge(run, item) === 'ask';
  return {
    call_id: call.id,
    ...(subject === '' ? { header: toVisibleLine(call.name) } : { header: `${call.name}: ${subject}`, subject }),
    preview: ready?.preview ?? '',
    ...(ready?.previewType && { preview_type: ready.previewType }),
    func_name: call.name,
    approval_label: ready?.approvalLabel ?? call.name,
    ...toNeed(run, item, isRepeated),
    ...(refused === undefined ? {} : REFUSED),
    error: refused ?? errorOf(run, item),
    ...(isRepeated && { repeated: timesOf(run.progress.repeats, keys.call) }),
    ...(notSandboxed !== undefined && { not_sandboxed: notSandboxed }),
    ...(ready?.reading && { effects: toCallEffects(ready.reading) }),
  };
}

const REFUSED = { auto_approved: undefined, auto_approve_reason: undefined };

function errorOf(run: RunContext, item: BatchCall): string | null {
  if (isForbidden(run, item)) return blockedByPolicy(item.call.name);
  return item.prepared.kind === 'refused' ? item.prepared.reason : null;
}

type Need = Pick<ApprovalItem, 'needs_approval' | 'auto_approved' | 'auto_approve_reason' | 'policy'>;

/** What policies and standing permissions say about it. */
function toNeed(run: RunContext, item: BatchCall, isRepeated: boolean): Need {
  const rule = ruleFor(run, item);
  const policy = rule && { policy: { policy_id: rule.policyId, name: toVisibleLine(rule.name), action: rule.action } };
  const isDenied = rule?.action === 'deny';
  const reason = isRepeated || isDenied ? undefined : autoApproval(run, item);
  return {
    needs_approval: !isDenied && (isRepeated || (reason !== 'policy' && needsApproval(run, item))),
    ...(reason !== undefined && { auto_approved: true, auto_approve_reason: reason }),
    ...policy,
  };
}
