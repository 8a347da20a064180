import type { CronApproval } from '../../../protocol/cron.ts';
import { nobodyToApprove } from './result-texts.ts';

/**
 * What becomes of calls that need approval in a run that nobody may be there for; it was accepted with the run.
 * `withheld`: the job allows tools, but a caller who may not approve wrote part of what the run reads.
 */
export type ApprovalPolicy = CronApproval | { mode: 'withheld'; tools: string[] };

/** Calls of the tool need no person. */
export const isAllowed = (policy: ApprovalPolicy | undefined, tool: string): boolean =>
  policy?.mode === 'allow' && policy.tools.includes(tool);

/** What the model reads of a call that nobody could be asked about. */
export const refusalBy = (policy: ApprovalPolicy): string => nobodyToApprove(whyNot(policy));

function whyNot(policy: ApprovalPolicy): string {
  if (policy.mode === 'withheld') {
    return 'the job’s policy does not apply while this conversation holds text of a caller who may not approve';
  }
  return policy.mode === 'allow'
    ? `the job’s policy allows only ${policy.tools.join(', ')}`
    : `the job’s policy is ${policy.mode}`;
}
