import { sql } from 'kysely';
import { authorsOf } from '../queue/authors.ts';
import { requestOf } from '../runs/run-rows.ts';
import type { RunTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';

/** The callers who wrote the messages that a run was given while it ran. */
export async function findSteerers(
  { db }: Pick<Store, 'db'>,
  { wsId, runId }: { wsId: string; runId: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['principal', 'request_json'])
    .where('ws_id', '=', wsId)
    .where(
      sql<boolean>`case when json_valid(request_json) then json_extract(request_json, '$.steeredInto') = ${runId} end`,
    )
    .execute();
  return [...new Set(rows.flatMap((row) => authorsOf({ ...row, request: requestOf(row) ?? {} })))];
}

/** The run that a caller started under a key. */
export const readRunByKey = (
  { db }: Pick<Store, 'db'>,
  { principal, wsId, key }: { principal: string; wsId: string; key: string },
): Promise<Pick<RunTable, 'status'> | undefined> =>
  db
    .selectFrom('runs')
    .select('status')
    .where('principal', '=', principal)
    .where('ws_id', '=', wsId)
    .where('run_key', '=', key)
    .executeTakeFirst();
