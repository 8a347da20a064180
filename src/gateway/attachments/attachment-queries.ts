import type { AttachmentTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';

/** The owner of uploaded files. */
export interface Owner {
  wsId: string;
  principal: string;
}

type Db = Store['db'];

/** The files that the owner has uploaded and not sent yet, oldest first. */
export const findWaiting = (db: Db, { wsId, principal }: Owner): Promise<AttachmentTable[]> =>
  db
    .selectFrom('attachments')
    .selectAll()
    .where('ws_id', '=', wsId)
    .where('principal', '=', principal)
    .where('status', '=', 'pending')
    .orderBy('created_ms')
    .orderBy('attachment_id')
    .execute();

export const findAttachment = (db: Db, wsId: string, id: string): Promise<AttachmentTable | undefined> =>
  db.selectFrom('attachments').selectAll().where('ws_id', '=', wsId).where('attachment_id', '=', id).executeTakeFirst();

/** Whether any workstream refers to it. */
export async function isNamed(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('attachments').select('ws_id').where('attachment_id', '=', id).executeTakeFirst();
  return row !== undefined;
}
