import type { Store } from '../store/store.ts';
import { isJobKey, jobIdOf } from '../workstreams/session-keys.ts';

const MAX_NAME = 80;

/** The name of the job with this session; undefined when there is none. */
export async function readJobName({ db }: Pick<Store, 'db'>, sessionKey: string): Promise<string | undefined> {
  if (!isJobKey(sessionKey)) return undefined;
  const row = await db
    .selectFrom('cron_jobs')
    .select('definition_json')
    .where('job_id', '=', jobIdOf(sessionKey))
    .executeTakeFirst();
  if (!row) return undefined;
  const { name }: { name: string } = JSON.parse(row.definition_json);
  return (
    name
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_NAME) || sessionKey
  );
}
