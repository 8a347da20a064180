import type { Store } from './store.ts';

/**
 * The workstream with a log that follows in the order of ids; undefined after the last one. Each call is one lookup at the
 * end of an index range; `distinct` would read every event.
 */
export async function nextLog({ db }: Pick<Store, 'db'>, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('events')
    .select('ws_id')
    .where('ws_id', '>', after)
    .orderBy('ws_id')
    .limit(1)
    .executeTakeFirst();
  return row?.ws_id;
}
