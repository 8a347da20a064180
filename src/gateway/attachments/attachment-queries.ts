import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { AttachmentTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';

/** The owner of uploaded files. */
export interface Owner {
  wsId: string;
  principal: string;
}

type Db = Store['db'];

/** The files that the owner has uploaded and not sent yet, oldest first. Plain SQL, because every message asks. */
export const findWaiting = async (db: Db, { wsId, principal }: Owner): Promise<AttachmentTable[]> =>
  (await db.executeQuery<AttachmentTable>(CompiledQuery.raw(WAITING_SQL, [wsId, principal]))).rows;

const WAITING_SQL = `SELECT * FROM attachments WHERE ws_id = ? AND principal = ? AND status = 'pending'
  ORDER BY created_ms, attachment_id`;

export const findAttachment = (db: Db, wsId: string, id: string): Promise<AttachmentTable | undefined> =>
  db.selectFrom('attachments').selectAll().where('ws_id', '=', wsId).where('attachment_id', '=', id).executeTakeFirst();

/** How many ids one query names. */
const AT_ONCE = 500;

/** Those to which no workstream refers. */
export async function* unnamedOf(db: Db, ids: readonly string[]): AsyncGenerator<string> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const asked = ids.slice(at, at + AT_ONCE);
    const rows = await db
      .selectFrom('attachments')
      .select('attachment_id')
      .where('attachment_id', 'in', asked)
      .execute();
    const named = new Set(rows.map(({ attachment_id }) => attachment_id));
    yield* asked.filter((id) => !named.has(id));
    await nextTurn(); // other work must not wait for all of them
  }
}
