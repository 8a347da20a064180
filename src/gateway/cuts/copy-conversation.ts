import { copyAttachments } from '../attachments/attachment-rows.ts';
import { insertMessage } from '../runs/run-rows.ts';
import type { Statement } from '../store/store.ts';
import { type Part, type Range, splitUp } from './cut.ts';

/** A conversation to copy: its parts, of this range of its workstream. */
export interface CopiedConversation extends Range {
  wsId: string;
  parts: readonly Part[];
}

/**
 * Copies the messages that count, and the notes between them, to the end of another workstream, and increases its count.
 * Refused when one of them is damaged, because its copy would look intact.
 */
export const copyConversation = (copied: CopiedConversation, to: string): Statement[] =>
  [...copyInBatches(copied, to)].flat();

/** The same for several units, each with at most so many messages; the order matters. */
export function* copyInBatches({ wsId, parts, after, upTo }: CopiedConversation, to: string): Generator<Statement[]> {
  const pages = [...splitUp(parts, BATCH)];
  let notesFrom = after;
  for (const [index, part] of pages.entries()) {
    if (part.kind === 'summary') {
      yield insertMessage({ wsId: to, runId: null, nowMs: part.createdMs }, part.message);
    } else {
      const notes = { from: notesFrom, upTo: part.upTo, at: part.after, rank: pages.length - index };
      yield [copyRows(wsId, part, to), copyNotes(wsId, notes, to), addToCount(part.upTo - part.after, to)];
      notesFrom = part.upTo + 1;
    }
  }
  const last = { from: notesFrom, upTo, at: upTo, rank: 0 }; // after the last message that counts
  yield [copyNotes(wsId, last, to), copyAttachments(wsId, to)];
}

/** Messages in one unit. */
const BATCH = 200;

const copyRows = (from: string, { after, upTo }: Range, to: string): Statement => ({
  sql: `INSERT INTO messages (ws_id, seq, run_id, body_json, created_ms, checksum)
        SELECT ws_id, seq, NULL, body_json, created_ms, message_checksum(ws_id, seq, NULL, body_json, created_ms) FROM (
          SELECT w.ws_id AS ws_id, w.message_count + m.seq - ? AS seq, m.body_json, m.created_ms
          FROM messages m JOIN workstreams w ON w.ws_id = ?
          WHERE m.ws_id = ? AND m.seq > ? AND m.seq <= ?
            AND m.checksum = message_checksum(m.ws_id, m.seq, m.run_id, m.body_json, m.created_ms)
        ) AS copied`,
  parameters: [after, to, from, after, upTo],
  expect: upTo - after,
});

interface CopiedNotes {
  /** The first and last message that they follow. */
  from: number;
  upTo: number;
  /** This message becomes the last one so far. Notes after earlier ones, which are not copied, follow it, too. */
  at: number;
  /** Lower for later parts. */
  rank: number;
}

/** Their offsets are below 1, in the order of their log, and different for each part. */
const copyNotes = (wsId: string, { from, upTo, at, rank }: CopiedNotes, to: string): Statement => ({
  sql: `INSERT INTO notes (ws_id, after_seq, "offset", body_json, created_ms)
        SELECT w.ws_id, w.message_count + max(n.after_seq, ?) - ?,
          ? - ROW_NUMBER() OVER (ORDER BY n.after_seq DESC, n."offset" DESC), n.body_json, n.created_ms
        FROM notes n JOIN workstreams w ON w.ws_id = ?
        WHERE n.ws_id = ? AND n.after_seq >= ? AND n.after_seq <= ?
          AND CASE WHEN json_valid(n.body_json) THEN json_extract(n.body_json, '$.type') END IS DISTINCT FROM 'compacted'`,
  parameters: [at, at, 1 - rank * NOTES_OF_A_PART, to, wsId, from, upTo],
});

const NOTES_OF_A_PART = 1_000_000;

const addToCount = (count: number, wsId: string): Statement => ({
  sql: 'UPDATE workstreams SET message_count = message_count + ? WHERE ws_id = ?',
  parameters: [count, wsId],
});
