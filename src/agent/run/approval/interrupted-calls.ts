import type { BatchCall } from '../batch-call.ts';
import type { Decision } from '../journal.ts';
import { outcomeUnknown } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { aboutCalls, askOnce } from './ask-once.ts';
import { type Refusal, recordRefusals } from './refusals.ts';
import { policyInForce } from './unattended-policy.ts';

/** Whether it was running when the daemon died, and running it again could do harm. */
export function hasUnknownOutcome(run: RunContext, { call }: BatchCall): boolean {
  const tool = run.progress.tools.get(call.id);
  return tool?.state === 'started' && !tool.safeToRepeat;
}

/** Asks a person about interrupted calls. Returns the ids of those that must not run again. */
export async function settleUnknownOutcomes(run: RunContext, unknown: BatchCall[]): Promise<Set<string>> {
  if (unknown.length === 0) return new Set();
  const latest = run.progress.outcomeApproval;
  // An answer is valid for one start. A call that was started since, or is new here, needs another question.
  const asked = latest && unknown.every(({ call }) => Object.hasOwn(latest.digests, call.id)) ? latest : undefined;
  const policy = asked ? undefined : policyInForce(run);
  const decision = policy ? NOBODY_ASKED : await askOnce(run, { asked, kind: 'outcome', ...aboutCalls(run, unknown) });
  if (decision.approved) return new Set();
  const refusal: Refusal = { output: outcomeUnknown(decision.feedback), outcome: 'unknown' };
  await recordRefusals(run, unknown, () => refusal);
  return new Set(unknown.map(({ call }) => call.id));
}

/**
 * A policy that allows a tool does not allow repeating a call that may have had its effect. The model checks and calls
 * again.
 */
const NOBODY_ASKED: Decision = {
  approved: false,
  feedback: 'No approver was available.',
  always: false,
  by: { kind: 'policy' },
};
