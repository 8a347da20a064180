import { readdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What the database of a stopped daemon holds of chats. */
export function readRows(home: string) {
  const database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  const read = (sql: string) => database.prepare(sql).all();
  try {
    return {
      chunks: read('select * from channel_chunks order by updated_ms, message_id, chunk'),
      inbox: read('select * from channel_inbox order by update_id'),
      senders: read('select * from channel_senders order by sender_id'),
      workstreams: read(`select * from workstreams where session_key like 'telegram:%' order by created_ms`),
      approvals: read('select * from approvals order by asked_ms'),
      outbox: read('select * from outbox order by seq'),
      attachments: read('select * from attachments order by created_ms, attachment_id'),
      files: filesIn(path.join(home, 'attachments')),
      runs: read('select * from runs').length,
      requests: read('select request_json from runs order by accepted_ms').map(({ request_json: json }) =>
        JSON.parse(String(json)),
      ),
      openRuns: read("select * from runs where status in ('queued', 'running')").length,
    };
  } finally {
    database.close();
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // nothing was stored
  }
}
