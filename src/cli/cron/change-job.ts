import { RequestError } from '../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronExtendedJob } from '../../../protocol/cron.ts';
import type { ParamsInput, Result } from '../../../protocol/index.ts';
import { findJob } from './find-job.ts';

type JobPatch = ParamsInput<'cron.update'>['patch'];

/** How often to retry while others change the job; more conflicts point to a bug. */
const MAX_TRIES = 5;

/**
 * Changes a job without overwriting the changes of others: if the job has changed since it was read, reads it again and
 * applies the change to the new version.
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
