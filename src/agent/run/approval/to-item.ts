import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { DecidingRule, Ruling } from '../../../../protocol/events/rules.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { toCallEffects } from '../../permissions/call-effects.ts';
import type { RulesVerdict } from '../../permissions/rules/compile-rules.ts';
import type { RuledCall } from '../../permissions/rules/matching.ts';
import { type RuleSource, toDecidingRule } from '../../permissions/rules/rule-source.ts';
import { type BatchCall, grantsOf, judge, whyNotSandboxed } from '../batch-call.ts';
import { timesOf } from '../limits/repeats.ts';
import type { RunContext } from '../run-context.ts';
import { blockedText } from './blocked-text.ts';
import { autoApproval, needsApproval } from './call-need.ts';
import type { CallRuling } from './call-ruling.ts';
import { rulesOn, rulingOf } from './ruling.ts';

/** The call as shown to people; `refused`: why it is not run. */
export function toItem(run: RunContext, item: BatchCall, refused?: string): ApprovalItem {
  const { call, prepared, keys } = item;
  const notSandboxed = whyNotSandboxed(run, item);
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
    ...(ready && toFacts(ready)),
  };
}

/** What the tool itself says about the call. */
const toFacts = ({ sandboxOff, backgroundSecs, question, reading }: ReadyCall) => ({
  ...(sandboxOff !== undefined && { sandbox_off: sandboxOff }),
  ...(backgroundSecs !== undefined && { background_secs: backgroundSecs }),
  ...(question && { question }),
  ...(reading && { effects: toCallEffects(reading) }),
});

type ReadyCall = Extract<BatchCall['prepared'], { kind: 'ready' }>;

const REFUSED = { auto_approved: undefined, auto_approve_reason: undefined };

function errorOf(run: RunContext, item: BatchCall): string | null {
  const ruling = rulingOf(run, item);
  if (ruling.verdict === 'block') return blockedText(item, ruling);
  return item.prepared.kind === 'refused' ? item.prepared.reason : null;
}

type Need = Pick<ApprovalItem, 'needs_approval' | 'auto_approved' | 'auto_approve_reason' | 'policy' | 'ruling'>;

/** What rules and standing permissions say about it. */
function toNeed(run: RunContext, item: BatchCall, isRepeated: boolean): Need {
  const ruling = rulingOf(run, item);
  const isBlocked = ruling.verdict === 'block';
  const reason = isRepeated || isBlocked ? undefined : autoApproval(run, item);
  return {
    needs_approval: !isBlocked && (isRepeated || (reason !== 'policy' && needsApproval(run, item))),
    ...(reason !== undefined && { auto_approved: true, auto_approve_reason: reason }),
    ...toPolicy(rulesOn(run, item)),
    ...toRuling(item, ruling, isRepeated),
  };
}

/** The tool policy that matches first, whatever decided. */
function toPolicy({ deny, ask, allow }: RulesVerdict): Pick<Need, 'policy'> {
  const rule = [deny, ask, allow].find((one) => one?.source === 'policy');
  return rule ? { policy: { policy_id: rule.ruleId, name: toVisibleLine(rule.name ?? ''), action: rule.action } } : {};
}

/** Nothing to say about calls that run because their tools need no approval. */
function toRuling(
  { ruled }: BatchCall,
  { verdict, reason, rule, taint }: CallRuling,
  isRepeated: boolean,
): Pick<Need, 'ruling'> {
  const granted = toGranted(ruled);
  if (isRepeated && verdict === 'run') return { ruling: { verdict: 'ask', reason: 'repeated', ...granted } };
  if (verdict === 'run' && reason === 'tool') return {};
  const shown = { ...(rule && { rule: toShownRule(rule) }), ...(taint && { taint }) };
  return { ruling: { verdict, reason, ...shown, ...granted } };
}

/** What the call may do in particular if it is allowed. */
function toGranted(ruled: RuledCall): Pick<Ruling, 'protected_paths' | 'hosts'> {
  const { protectedPaths, hosts } = grantsOf(ruled);
  return {
    ...(protectedPaths.length > 0 && { protected_paths: protectedPaths.map(toVisibleLine) }),
    ...(hosts.length > 0 && { hosts: hosts.map(toVisibleLine) }),
  };
}

const toShownRule = (rule: RuleSource): DecidingRule => ({
  ...toDecidingRule(rule),
  ...(rule.name !== undefined && { name: toVisibleLine(rule.name) }),
});
