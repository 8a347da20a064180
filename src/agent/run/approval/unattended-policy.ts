import type { CronApproval } from '../../../../protocol/cron.ts';
import { nobodyToApprove } from '../result-texts.ts';

/**
 * What happens to calls that need approval in an unattended run. It is stored with the run. `withheld`: the job allows
 * tools, but a caller without the approve scope wrote part of what the run reads.
 */
export type UnattendedPolicy = CronApproval | { mode: 'withheld'; tools: string[] };

interface Attended {
  policy: UnattendedPolicy | undefined;
  isWatched(): boolean;
}

/** The policy that decides instead of a person; undefined when a person is asked. */
export const policyInForce = ({ policy, isWatched }: Attended): UnattendedPolicy | undefined =>
  policy === undefined || policy.mode === 'wait' || isWatched() ? undefined : policy;

/** Whether calls of the tool need no approval. */
export const isAllowed = (policy: UnattendedPolicy | undefined, tool: string): boolean =>
  policy?.mode === 'allow' && policy.tools.includes(tool);

/** The result that the model reads for a call that nobody could approve. */
export const refusalBy = (policy: UnattendedPolicy): string => nobodyToApprove(whyNot(policy));

function whyNot(policy: UnattendedPolicy): string {
  if (policy.mode === 'withheld') {
    return 'the job’s policy does not apply while this conversation contains text from a caller without the approve scope';
  }
  return policy.mode === 'allow'
    ? `the job’s policy allows only ${policy.tools.join(', ')}`
    : `the job’s policy is ${policy.mode}`;
}
