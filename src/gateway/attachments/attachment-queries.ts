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

/** Whether any workstream refers to it. */
export async function isNamed(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('attachments').select('ws_id').where('attachment_id', '=', id).executeTakeFirst();
  return row !== undefined;
}
