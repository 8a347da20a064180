import type { CallOutcome } from '../../../../protocol/stream-events.ts';
import type { BatchCall } from '../batch-call.ts';
import type { Decision } from '../journal.ts';
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
}

export const cannotRun = (reason: string): Refusal => ({ output: reason, outcome: 'failed' });
export const blockedBy = (policy: UnattendedPolicy): Refusal => ({ output: refusalBy(policy), outcome: 'blocked' });
export const CHANGED = cannotRun(NOT_AS_APPROVED);

export function denialOf({ prepared }: BatchCall, decision: Decision): Refusal {
  const { feedback } = decision;
  if (prepared.kind === 'refused') return cannotRun(prepared.reason);
  return hasExpired(decision)
    ? { output: feedback, outcome: 'expired' }
    : { output: deniedWith(feedback), outcome: 'denied' };
}

/** Records error results for calls that were not run. */
export async function recordRefusals(
  run: RunContext,
  batch: BatchCall[],
  why: (item: BatchCall) => Refusal,
): Promise<void> {
  if (batch.length === 0) return;
  await run.recorder.record(refusalStep(batch.map((item) => [item, why(item)])));
}

export const refusalStep = (refused: Iterable<readonly [BatchCall, Refusal]>): Step =>
  resultStep([...refused].map(([{ call }, result]) => ({ call, result })));
