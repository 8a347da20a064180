import type { BatchCall } from '../batch-call.ts';
import type { AskedApproval, Decision } from '../journal.ts';
import { outcomeUnknown } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { aboutCalls, askOnce } from './ask-once.ts';
import { isForbidden } from './call-need.ts';
import { forbidden, type Refusal, recordRefusals } from './refusals.ts';
import { policyInForce } from './unattended-policy.ts';

/** Asks a person about interrupted calls. Returns the ids of those that must not run again. */
export async function settleUnknownOutcomes(run: RunContext, unknown: BatchCall[]): Promise<Set<string>> {
  const latest = run.progress.outcomeApproval;
  const isOpen = latest !== undefined && latest.decision === undefined;
  // A question that is open needs its answer, whatever it is about.
  const never = isOpen ? [] : unknown.filter((item) => isForbidden(run, item));
  await recordRefusals(run, never, (item) => forbidden(run, item));
  const left = unknown.filter((item) => !never.includes(item));
  return new Set([...never.map(({ call }) => call.id), ...(await askAbout(run, left, latest))]);
}

async function askAbout(
  run: RunContext,
  unknown: BatchCall[],
  latest: AskedApproval | undefined,
): Promise<readonly string[]> {
  if (unknown.length === 0) return [];
  // An answer is valid for one start. A call that was started since, or is new here, needs another question.
  const asked = latest && unknown.every(({ call }) => Object.hasOwn(latest.digests, call.id)) ? latest : undefined;
  const policy = asked ? undefined : policyInForce(run);
  const decision = policy ? NOBODY_ASKED : await askOnce(run, { asked, kind: 'outcome', ...aboutCalls(run, unknown) });
  const { approved, feedback, denied = {} } = decision;
  const skipped = approved ? unknown.filter(({ call }) => Object.hasOwn(denied, call.id)) : unknown;
  await recordRefusals(run, skipped, ({ call, prepared }): Refusal => {
    const seen = prepared.kind === 'refused' ? prepared.reason : '';
    const said = denied[call.id] ?? feedback;
    return { output: outcomeUnknown([said, seen].filter((text) => text !== '').join('\n')), outcome: 'unknown' };
  });
  return skipped.map(({ call }) => call.id);
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
