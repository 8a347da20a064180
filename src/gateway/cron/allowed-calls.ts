import { isDeepStrictEqual } from 'node:util';
import type { CronApproval, CronPayload } from '../../../protocol/cron.ts';
import { DECIDING } from '../../../protocol/methods/accounts/permissions.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { requireFreshProof } from '../auth/fresh-proof.ts';
import type { Principal } from '../auth/principal.ts';
import { requirePermission } from '../required-rights.ts';
import { mayDecide } from '../rights.ts';

type Work = Pick<Job, 'payload' | 'approval'>;

interface Patch {
  payload?: CronPayload | undefined;
  approval?: CronApproval | undefined;
}

/**
 * A job that allows calls decides about them, so it takes who may decide, and a fresh proof of a browser session. So does a
 * change after which calls are allowed: another list of tools, and another message, which is as good as one (decision 69).
 * What repeats the job is no change. Undefined: of a new job.
 */
export function requireMayAllow(job: Work | undefined, patch: Patch, principal: Principal | undefined): void {
  const approval = patch.approval ?? job?.approval;
  if (approval?.mode !== 'allow' || (job && isSameWork(job, patch))) return;
  requirePermission(principal, DECIDING);
  requireFreshProof(principal);
}

/** Who may change jobs and not decide about calls writes texts with fewer rights: they are under no auto-approve. */
export function rightsOfTexts(
  job: (Work & Pick<Job, 'rights'>) | undefined,
  patch: Patch,
  principal: Principal | undefined,
): Job['rights'] {
  if (job && isSameWork(job, patch)) return job.rights;
  return principal === undefined || mayDecide(principal) ? undefined : 'write';
}

const isSameWork = (job: Work, { payload = job.payload, approval = job.approval }: Patch): boolean =>
  isDeepStrictEqual({ approval, payload }, { approval: job.approval, payload: job.payload });
