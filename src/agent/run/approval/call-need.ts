import type { AutoApproveReason } from '../../../../protocol/events/approval-item.ts';
import type { CallDecision } from '../../message.ts';
import type { CallGrants } from '../../tools/tool.ts';
import { type BatchCall, grantsOf, judge } from '../batch-call.ts';
import type { RunContext } from '../run-context.ts';
import { APPROVED_BY_JUDGE } from './by-judge.ts';
import type { CallRuling } from './call-ruling.ts';
import { rulesOn, rulingOf } from './ruling.ts';

/** Whether the call is blocked. Nothing stands above it: neither auto-approve nor a person. */
export const isForbidden = (run: RunContext, item: BatchCall): boolean => rulingOf(run, item).verdict === 'block';

/** Whether a person decides about this call itself, and not only about its batch. */
export function isReasonToAsk(run: RunContext, item: BatchCall): boolean {
  const { verdict } = rulingOf(run, item);
  return verdict !== 'block' && (verdict === 'ask' || judge(run, item) === 'ask');
}

/** Whether the call needs approval, apart from standing permissions: as its tool says, or as a rule does. */
export function needsApproval(run: RunContext, item: BatchCall): boolean {
  const { prepared } = item;
  if (prepared.kind !== 'ready') return false;
  const { ask, unclear } = rulesOn(run, item);
  return prepared.needsApproval || ask !== undefined || unclear !== undefined;
}

/** Why a call that needs approval is not a reason to ask; undefined: it is one, or needs none. */
export const autoApproval = (run: RunContext, item: BatchCall): AutoApproveReason | undefined =>
  rulingOf(run, item).auto;

/** How it was decided about the call, as far as its result is stored with it; undefined: as its tool says. */
export function decisionOf(run: RunContext, item: BatchCall): CallDecision | undefined {
  const { verdict, reason, rule, auto } = afterQuestion(run, decidedOn(run, item));
  const [, label] = item.ruled.names;
  const cleared = isCleared(run) || reason === 'judge' ? auto : undefined;
  if (reason === 'tool' && label === undefined && cleared === undefined) return undefined;
  return {
    ...(label !== undefined && { label }),
    ...(cleared !== undefined && { auto: cleared }),
    ...(reason !== 'tool' && { verdict, reason }),
    ...(rule && {
      ...(rule.source === 'policy' ? { policy: rule.ruleId } : { rule: rule.ruleId }),
      action: rule.action,
      place: rule.place,
      wanted: item.prepared.kind === 'ready' && item.prepared.needsApproval,
    }),
  };
}

/** The judge answers a question only if it may answer for all calls that asked. */
const afterQuestion = ({ progress: { approval } }: RunContext, ruling: CallRuling): CallRuling =>
  ruling.verdict === 'ask' && approval?.decision?.by.kind === 'judge' ? APPROVED_BY_JUDGE : ruling;

/** Whether nobody was asked about the batch. */
const isCleared = ({ progress: { approval } }: RunContext): boolean =>
  approval === undefined || approval.approvalId === '';

/** Why the call runs although nobody was asked about its batch; undefined: it needs no approval, or somebody was asked. */
export const clearedBy = (run: RunContext, item: BatchCall): AutoApproveReason | undefined =>
  isCleared(run) ? decidedOn(run, item).auto : undefined;

/** Counts the use of a rule that let the call run. */
export function noteUse(run: RunContext, item: BatchCall): void {
  const { verdict, rule } = decidedOn(run, item);
  if (verdict === 'run' && rule) run.rules.used(rule);
}

/** What the call may do in particular: it runs, so what it asked for was allowed. */
export function grantedTo(run: RunContext, item: BatchCall): CallGrants {
  const auto = clearedBy(run, item);
  const allowed = allowedBy(run, item);
  return {
    ...grantsOf(item.ruled),
    writesAdded: auto !== 'mode' && auto !== 'harmless',
    ...(allowed && { allowed }),
  };
}

/** Who answered the question about the call, and why it was asked; undefined: nobody was asked. */
function allowedBy(run: RunContext, item: BatchCall): CallGrants['allowed'] {
  const by = run.progress.approval?.decision?.by.kind;
  if (isCleared(run) || (by !== 'principal' && by !== 'judge')) return undefined;
  return { by: by === 'judge' ? 'judge' : 'person', reason: decidedOn(run, item).reason };
}

const DECIDED = new WeakMap<BatchCall, CallRuling>();

/** Rules and modes may change before a call has ended, so what decided about it is remembered. */
export function rememberRulings(run: RunContext, batch: readonly BatchCall[]): void {
  for (const item of batch) DECIDED.set(item, rulingOf(run, item));
}

function decidedOn(run: RunContext, item: BatchCall): CallRuling {
  const now = rulingOf(run, item);
  return now.verdict === 'block' ? now : (DECIDED.get(item) ?? now);
}
