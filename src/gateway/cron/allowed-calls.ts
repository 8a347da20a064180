import { isDeepStrictEqual } from 'node:util';
import type { CronApproval, CronPayload } from '../../../protocol/cron.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { requireFreshProof } from '../auth/fresh-proof.ts';
import type { Principal } from '../auth/principal.ts';

interface Patch {
  payload?: CronPayload | undefined;
  approval?: CronApproval | undefined;
}

/**
 * A change after which calls of a job are allowed needs a fresh proof of a browser session: another list of tools, and
 * another message, which is as good as one (decision 69). What repeats the job is no change.
 */
export function requireProofForAllowing(job: Job, patch: Patch, principal: Principal | undefined): void {
  const { approval = job.approval, payload = job.payload } = patch;
  if (approval.mode !== 'allow') return;
  if (isDeepStrictEqual({ approval, payload }, { approval: job.approval, payload: job.payload })) return;
  requireFreshProof(principal);
}
