import type { Store } from '../store/store.ts';

const PREFIX = 'cron:';
const MAX_NAME = 80;

/** The session that a job's turns run in. */
export const sessionKeyOf = (jobId: string): string => PREFIX + jobId;

/** What a job's session is called; undefined when no job has this key. */
export async function readJobName({ db }: Pick<Store, 'db'>, sessionKey: string): Promise<string | undefined> {
  if (!sessionKey.startsWith(PREFIX)) return undefined;
  const row = await db
    .selectFrom('cron_jobs')
    .select('definition_json')
    .where('job_id', '=', sessionKey.slice(PREFIX.length))
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
