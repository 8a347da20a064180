import type { CallOutcome } from '../../../../protocol/stream-events.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { BatchCall } from '../batch-call.ts';
import { resumedBy } from '../inputs/resumed-by.ts';
import type { Decision } from '../journal.ts';
import { type CallTrace, resultHash } from '../limits/repeats.ts';
import { noteLimit } from '../limits/wrap-up.ts';
import type { Step } from '../recorder.ts';
import { resultStep } from '../result-step.ts';
import {
  deniedWith,
  NOT_AS_APPROVED,
  nobodyToApprove,
  outcomeUnknown,
  policyAsks,
  WHY_ASKED,
} from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { hasExpired } from './approval-expiry.ts';
import { blockedText, toolMeant } from './blocked-text.ts';
import { decisionOf, isForbidden } from './call-need.ts';
import type { CallRuling } from './call-ruling.ts';
import { rulingOf } from './ruling.ts';
import { toItem } from './to-item.ts';
import { refusalBy, type UnattendedPolicy } from './unattended-policy.ts';

/** The result of a call that is not run. */
export interface Refusal {
  output: string;
  outcome: CallOutcome;
  /** What a repetition of the call means; absent: another refusal with the same result counts as a repetition. */
  as?: Exclude<CallTrace['kind'], 'result'>;
}

export const cannotRun = (reason: string): Refusal => ({ output: reason, outcome: 'failed' });
export const blockedBy = (policy: UnattendedPolicy): Refusal => ({ output: refusalBy(policy), outcome: 'blocked' });
/** A call that is asked about for a reason that the policy of the run cannot answer. */
export function blockedByAsking(item: BatchCall, { reason, rule }: CallRuling): Refusal {
  const byPolicy = policyAsks(toolMeant(item, rule));
  const why = reason === 'policy' ? byPolicy : WHY_ASKED[reason];
  return { output: nobodyToApprove(why ?? byPolicy), outcome: 'blocked' };
}
export const CHANGED = cannotRun(NOT_AS_APPROVED);

/** The refusal of a call that a tool policy forbids. A call that was interrupted may have had its effect all the same. */
export function forbidden(
  run: RunContext,
  item: BatchCall,
  wasInterrupted: boolean = mayHaveHadEffect(run, item),
): Refusal {
  const { call } = item;
  const ruling = rulingOf(run, item);
  const { reason, rule } = ruling;
  run.log.info(
    { wsId: run.wsId, runId: run.runId, callId: call.id, tool: call.name, reason, ruleId: rule?.ruleId },
    BLOCKED_BY[reason] ?? 'a call was blocked',
  );
  if (rule) run.rules.used(rule);
  const output = blockedText(item, ruling);
  return wasInterrupted ? { output: outcomeUnknown(output), outcome: 'unknown' } : { output, outcome: 'blocked' };
}

/** For the log. */
const BLOCKED_BY: Partial<Record<CallRuling['reason'], string>> = {
  policy: 'a tool policy blocked a call',
  rule: 'a permission rule blocked a call',
  mode: 'the mode of the workstream blocked a call',
  hook: 'a hook blocked a call',
};

/** Whether it was running when the daemon died, and running it again could do harm. One that only waits for an answer goes on. */
export function hasUnknownOutcome({ progress }: Pick<RunContext, 'progress'>, { call }: BatchCall): boolean {
  const tool = progress.tools.get(call.id);
  if (resumedBy(progress, call.id)) return false;
  return tool?.state === 'started' && !tool.safeToRepeat;
}

/** Whether it was running when the daemon died, and may have had an effect, also if running it again would do no harm. */
export function mayHaveHadEffect({ progress }: Pick<RunContext, 'progress'>, { call, prepared }: BatchCall): boolean {
  if (resumedBy(progress, call.id) || prepared.tool?.readOnly) return false;
  return progress.tools.get(call.id)?.state === 'started';
}

/** `wasAsked`: whether this call was a reason for the question; the others of its batch may be made again. */
export function denialOf(run: RunContext, item: BatchCall, { decision, wasAsked }: Denial): Refusal {
  const { prepared } = item;
  const feedback = decision.denied?.[item.call.id] ?? decision.feedback;
  if (isForbidden(run, item)) return forbidden(run, item);
  if (prepared.kind === 'refused') return cannotRun(prepared.reason);
  if (hasExpired(decision)) return { output: feedback, outcome: 'expired' };
  return { output: deniedWith(feedback), outcome: 'denied', ...(wasAsked && { as: 'denied' }) };
}

interface Denial {
  decision: Decision;
  wasAsked: boolean;
}

/** Shows calls that are not run after all, with the reasons, and records these as their results. */
export async function recordShown(run: RunContext, refused: ReadonlyMap<BatchCall, Refusal>): Promise<void> {
  if (refused.size === 0) return;
  const { events = [], ...step } = refusalStep(run, refused);
  const items = [...refused].map(([item, { output }]) => toItem(run, item, output));
  await run.recorder.record({ ...step, events: [{ type: 'tool_info', items }, ...events] });
}

/** Records error results for calls that were not run. */
export async function recordRefusals(
  run: RunContext,
  batch: BatchCall[],
  why: (item: BatchCall) => Refusal,
): Promise<void> {
  if (batch.length === 0) return;
  await run.recorder.record(refusalStep(run, new Map(batch.map((item) => [item, why(item)]))));
}

/** The step that records refusals. */
export const refusalStep = (run: RunContext, refused: ReadonlyMap<BatchCall, Refusal>): Step => {
  const results = [...refused].map(([item, { output, outcome, as }]) => {
    const result = { output, outcome };
    return { call: item.call, result, decision: decisionOf(run, item), trace: traceOf(item, { result, as }) };
  });
  return resultStep(noteLimit(run, results));
};

function traceOf({ keys }: BatchCall, { result, as }: { result: ToolOutcome; as: Refusal['as'] }): CallTrace {
  if (as === 'denied') return { kind: as, ...keys };
  return as === 'stopped'
    ? { kind: as, call: keys.call }
    : { kind: 'result', call: keys.call, result: resultHash(result) };
}
