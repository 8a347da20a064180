import { isIntactEvent, isIntactMessage } from '../../row-checksum.ts';
import type { Connection } from '../../sqlite/sqlite-connection.ts';

/** Rows per transaction, so that neither memory nor the write-ahead log grows with the table. */
const BATCH = 500;

interface Table {
  name: 'events' | 'messages' | 'notes';
  /** The columns after `ws_id`. */
  key: string[];
  /** Set in addition to the body. */
  checksum: string;
  isIntact(row: Record<string, unknown>): boolean;
}

const EVENTS: Table = {
  name: 'events',
  key: ['"offset"'],
  checksum: ', checksum = event_checksum(ws_id, "offset", ?1, created_ms)',
  isIntact: isIntactEvent,
};
const MESSAGES: Table = {
  name: 'messages',
  key: ['seq'],
  checksum: ', checksum = message_checksum(ws_id, seq, run_id, ?1, created_ms)',
  isIntact: isIntactMessage,
};

const NOTES: Table = { name: 'notes', key: ['after_seq', '"offset"'], checksum: '', isIntact: () => true };

/** The beginnings of the bodies to rewrite, and the function that rewrites each; undefined leaves a body unchanged. */
interface Rewriting {
  beginnings: readonly string[];
  rewrite(body: string): string | undefined;
}

export const rewriteEvents = (connection: Connection, rewriting: Rewriting): void =>
  rewriteBodies(connection, EVENTS, rewriting);

export const rewriteMessages = (connection: Connection, rewriting: Rewriting): void =>
  rewriteBodies(connection, MESSAGES, rewriting);

export const rewriteNotes = (connection: Connection, rewriting: Rewriting): void =>
  rewriteBodies(connection, NOTES, rewriting);

/**
 * Writes new bodies with their checksums. Skips damaged rows, because a new checksum would make them look intact, and
 * bodies that are not JSON, which were damaged before there were checksums. If interrupted it starts over; `rewrite`
 * skips finished rows.
 */
function rewriteBodies(connection: Connection, table: Table, { beginnings, rewrite }: Rewriting): void {
  const { name } = table;
  const key = ['ws_id', ...table.key];
  const columns = key.join(', ');
  const placeOf = (row: Record<string, unknown>) => key.map((column) => row[column.replaceAll('"', '')]);
  const begins = beginnings.map((text) => `substr(body_json, 1, ${text.length}) = '${text}'`).join(' or ');
  const read = `select * from ${name}
    where (${columns}) > (${key.map(() => '?').join(', ')}) and (${begins}) order by ${columns} limit ${BATCH}`;
  const write = `update ${name} set body_json = ?1${table.checksum}
    where (${columns}) = (${key.map((_, index) => `?${index + 2}`).join(', ')})`;
  let from: unknown[] = ['', ...table.key.map(() => Number.MIN_SAFE_INTEGER)];
  for (;;) {
    const rows = [...connection.iterateStored(read, from)];
    const last = rows.at(-1);
    if (!last) return;
    inTransaction(connection, () => {
      for (const row of rows) {
        const body = table.isIntact(row) && isJson(row.body_json) ? rewrite(String(row.body_json)) : undefined;
        if (body !== undefined) connection.run(write, [body, ...placeOf(row)]);
      }
    });
    from = placeOf(last);
  }
}

function inTransaction(connection: Connection, work: () => void): void {
  connection.run('begin immediate');
  try {
    work();
    connection.run('commit');
  } catch (error) {
    if (connection.database.isTransaction) connection.run('rollback');
    throw error;
  }
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(String(text));
    return true;
  } catch {
    return false;
  }
}
