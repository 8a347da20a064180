import type { Store } from '../store/store.ts';
import { storedReader } from '../store/stored-value.ts';
import { requireHere } from '../workers/elsewhere.ts';
import { isJobKey, jobIdOf } from '../workstreams/session-keys.ts';
import { isDefinition } from './job-rows.ts';

const MAX_NAME = 80;

/** The name of the job with this session; undefined when there is none. Throws Elsewhere for a job of another machine. */
export async function readJobName(
  store: Pick<Store, 'db' | 'machine' | 'reportDamage'>,
  sessionKey: string,
): Promise<string | undefined> {
  if (!isJobKey(sessionKey)) return undefined;
  const row = await store.db
    .selectFrom('cron_jobs')
    .select(['definition_json', 'machine'])
    .where('job_id', '=', jobIdOf(sessionKey))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  requireHere(row, store);
  const definition = storedReader(store)(row.definition_json, `the definition of ${sessionKey}`, isDefinition);
  return (
    definition?.name
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_NAME) || sessionKey
  );
}
