import type { CronApproval } from '../../../protocol/cron.ts';
import { NOBODY_TO_APPROVE } from '../../../protocol/denials.ts';

/** What becomes of calls that need approval in a run that nobody may be there for; it was accepted with the run. */
export type ApprovalPolicy = CronApproval;

/** How long a question waits where the policy asks nobody, but somebody happens to look on. */
const ONLOOKER_MS = 5 * 60_000;

/** Milliseconds a question may wait; `usualMs` where the policy says nothing of it. */
export function approvalMsOf(policy: ApprovalPolicy | undefined, usualMs: number): number {
  if (policy === undefined) return usualMs;
  return policy.mode === 'wait' ? (policy.timeoutMs ?? usualMs) : Math.min(ONLOOKER_MS, usualMs);
}

/** Calls of the tool need no person. */
export const isAllowed = (policy: ApprovalPolicy | undefined, tool: string): boolean =>
  policy?.mode === 'allow' && policy.tools.includes(tool);

/** What the model reads of a call that nobody could be asked about. */
export const refusalBy = (policy: ApprovalPolicy): string =>
  `${NOBODY_TO_APPROVE}, and the job’s policy ` +
  (policy.mode === 'allow' ? `allows only ${policy.tools.join(', ')}.` : `is ${policy.mode}.`);
