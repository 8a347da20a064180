import type { Store } from '../store/store.ts';
import { storedReader } from '../store/stored-value.ts';
import { isJobKey, jobIdOf } from '../workstreams/session-keys.ts';
import { isDefinition } from './job-rows.ts';

const MAX_NAME = 80;

/** The name of the job with this session; undefined when there is none. */
export async function readJobName(
  store: Pick<Store, 'db' | 'reportDamage'>,
  sessionKey: string,
): Promise<string | undefined> {
  if (!isJobKey(sessionKey)) return undefined;
  const row = await store.db
    .selectFrom('cron_jobs')
    .select('definition_json')
    .where('job_id', '=', jobIdOf(sessionKey))
    .executeTakeFirst();
  if (!row) return undefined;
  const definition = storedReader(store)(row.definition_json, `the definition of ${sessionKey}`, isDefinition);
  return (
    definition?.name
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_NAME) || sessionKey
  );
}
