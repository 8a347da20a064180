import type { CallOutcome } from '../../../../protocol/stream-events.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { BatchCall } from '../batch-call.ts';
import type { Decision } from '../journal.ts';
import { type CallTrace, resultHash } from '../limits/repeats.ts';
import { noteLimit } from '../limits/wrap-up.ts';
import type { Step } from '../recorder.ts';
import { resultStep } from '../result-step.ts';
import { deniedWith, NOT_AS_APPROVED } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { hasExpired } from './approval-expiry.ts';
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
export const CHANGED = cannotRun(NOT_AS_APPROVED);

/** `wasAsked`: whether this call was a reason for the question; the others of its batch may be made again. */
export function denialOf({ prepared }: BatchCall, decision: Decision, wasAsked: boolean): Refusal {
  const { feedback } = decision;
  if (prepared.kind === 'refused') return cannotRun(prepared.reason);
  if (hasExpired(decision)) return { output: feedback, outcome: 'expired' };
  return { output: deniedWith(feedback), outcome: 'denied', ...(wasAsked && { as: 'denied' }) };
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
    return { call: item.call, result, trace: traceOf(item, { result, as }) };
  });
  return resultStep(noteLimit(run, results));
};

function traceOf({ keys }: BatchCall, { result, as }: { result: ToolOutcome; as: Refusal['as'] }): CallTrace {
  if (as === 'denied') return { kind: as, ...keys };
  return as === 'stopped'
    ? { kind: as, call: keys.call }
    : { kind: 'result', call: keys.call, result: resultHash(result) };
}
