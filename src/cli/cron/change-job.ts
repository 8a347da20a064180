import { RequestError } from '../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronExtendedJob } from '../../../protocol/cron.ts';
import type { ParamsInput, Result } from '../../../protocol/index.ts';
import { findJob } from './find-job.ts';

type JobPatch = ParamsInput<'cron.update'>['patch'];

/** How often a job that others change is read again; more would be a fault. */
const MAX_TRIES = 5;

/**
 * Changes a job as it was when it was read, so that what somebody else changes in between is not lost: then the change is
 * made to the job as it is by now.
 */
export async function changeJob(
  client: Pick<GatewayClient, 'call'>,
  which: string,
  toPatch: (job: CronExtendedJob) => JobPatch,
): Promise<Result<'cron.update'>> {
  for (let tries = 1; ; tries += 1) {
    const job = await findJob(client, which);
    const { id, revision } = job;
    try {
      return await client.call('cron.update', { id, revision, patch: toPatch(job), extended: true });
    } catch (error) {
      const isOutdated = error instanceof RequestError && error.code === 'CONFLICT';
      if (!isOutdated || tries === MAX_TRIES) throw error;
    }
  }
}
