import type { Attachment } from '../../../protocol/stream-events.ts';
import type { AttachmentTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';

/*
 * The statements that assign an attachment to exactly one message: pending → reserved when its run is accepted,
 * reserved → consumed with the message, reserved → pending if the run is dropped before it began.
 */

export const toAttachment = (row: AttachmentTable): Attachment => ({
  attachment_id: row.attachment_id,
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  kind: row.kind,
});

export interface NewAttachment {
  attachment: Attachment;
  wsId: string;
  principal: string;
  nowMs: number;
}

/** Refused when the uploader already has `most` pending attachments. */
export const insertPending = (added: NewAttachment, most: number): Statement => ({
  sql: `INSERT INTO attachments
          (ws_id, attachment_id, principal, filename, mime_type, size_bytes, kind, status, run_id, created_ms)
        SELECT ?, ?, ?, ?, ?, ?, ?, 'pending', NULL, ? FROM workstreams w WHERE w.ws_id = ? AND
          (SELECT COUNT(*) FROM attachments a WHERE a.ws_id = ? AND a.principal = ? AND a.status = 'pending') < ?`,
  parameters: [...columnsOf(added), added.wsId, added.wsId, added.principal, most],
  expect: 1,
});

/** Inserts an attachment that came inside the message itself. */
export const insertReserved = (added: NewAttachment, runId: string): Statement => ({
  sql: `INSERT INTO attachments
          (ws_id, attachment_id, principal, filename, mime_type, size_bytes, kind, created_ms, status, run_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?)`,
  parameters: [...columnsOf(added), runId],
  expect: 1,
});

/** Inserts an attachment of a message that is already part of a conversation. */
export const insertConsumed = (added: NewAttachment): Statement => ({
  sql: `INSERT INTO attachments
          (ws_id, attachment_id, principal, filename, mime_type, size_bytes, kind, created_ms, status, run_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'consumed', NULL)`,
  parameters: columnsOf(added),
  expect: 1,
});

/** Refused when another message has reserved it. */
export const reserve = (wsId: string, attachmentId: string, runId: string): Statement =>
  reserveFrom('pending', { wsId, attachmentId, runId });

/** Reserves an attachment of an earlier message that is sent again. */
export const reserveAgain = (wsId: string, attachmentId: string, runId: string): Statement =>
  reserveFrom('consumed', { wsId, attachmentId, runId });

const reserveFrom = (
  status: 'pending' | 'consumed',
  { wsId, attachmentId, runId }: { wsId: string; attachmentId: string; runId: string },
): Statement =>
  statementOf(
    build
      .updateTable('attachments')
      .set({ status: 'reserved', run_id: runId })
      .where('ws_id', '=', wsId)
      .where('attachment_id', '=', attachmentId)
      .where('status', '=', status),
    1,
  );

/** Marks the attachments as consumed, because their message is in the conversation. */
export const consume = (runId: string, count: number): Statement =>
  statementOf(
    build
      .updateTable('attachments')
      .set({ status: 'consumed' })
      .where('run_id', '=', runId)
      .where('status', '=', 'reserved'),
    count,
  );

/** Makes the attachments available again, because their run was dropped before it began. */
export const release = (runId: string): Statement =>
  statementOf(
    build
      .updateTable('attachments')
      .set({ status: 'pending', run_id: null })
      .where('run_id', '=', runId)
      .where('status', '=', 'reserved'),
  );

/** Copies the attachments of one workstream's messages to another workstream. */
export const copyAttachments = (from: string, to: string): Statement => ({
  sql: `INSERT INTO attachments
          (ws_id, attachment_id, principal, filename, mime_type, size_bytes, kind, status, run_id, created_ms)
        SELECT ?, attachment_id, principal, filename, mime_type, size_bytes, kind, status, NULL, created_ms
        FROM attachments WHERE ws_id = ? AND status = 'consumed' ON CONFLICT DO NOTHING`,
  parameters: [to, from],
});

function columnsOf({ attachment, wsId, principal, nowMs }: NewAttachment): unknown[] {
  const { attachment_id, filename, mime_type, size_bytes, kind } = attachment;
  return [wsId, attachment_id, principal, filename, mime_type, size_bytes, kind, nowMs];
}
