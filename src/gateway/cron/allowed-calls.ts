import { isDeepStrictEqual } from 'node:util';
import { DECIDING } from '../../../protocol/methods/accounts/permissions.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { requireFreshProof } from '../auth/fresh-proof.ts';
import type { Principal } from '../auth/principal.ts';
import { requirePermission } from '../required-rights.ts';
import { mayDecide } from '../rights.ts';

/** What decides about the calls of a job, and the texts of it that models read. */
type Work = Pick<Job, 'payload' | 'approval' | 'name' | 'isolation'>;

/**
 * A job that allows calls decides about them, so it takes who may decide, and a fresh proof of a browser session. So does a
 * change after which calls are allowed: another list of tools, and another text for models, which is as good as one (decision
 * 69). What repeats the job is no change. `before`: undefined for a new job.
 */
export function requireMayAllow(before: Work | undefined, after: Work, principal: Principal | undefined): void {
  if (after.approval.mode !== 'allow' || (before && isSameWork(before, after))) return;
  requirePermission(principal, DECIDING);
  requireFreshProof(principal);
}

/**
 * Who may change jobs and not decide about calls writes texts with fewer rights: they are under no auto-approve. Who may
 * decide lifts that with another message or approval, not with another name.
 */
export function rightsOfTexts(
  before: (Work & Pick<Job, 'rights'>) | undefined,
  after: Work,
  principal: Principal | undefined,
): Job['rights'] {
  if (before && isSameWork(before, after)) return before.rights;
  if (principal !== undefined && !mayDecide(principal)) return 'write';
  return before && isDeepStrictEqual(messageOf(before), messageOf(after)) ? before.rights : undefined;
}

const isSameWork = (before: Work, after: Work): boolean => isDeepStrictEqual(workOf(before), workOf(after));

const messageOf = ({ payload, approval }: Work) => ({ payload, approval });

/** The name begins the message of a run, and the prefix the line for the main session. */
const workOf = (job: Work) => ({ ...messageOf(job), name: job.name, prefix: job.isolation?.postToMainPrefix });
