import type { Connection } from './connection.ts';
import { isIntactEvent, isIntactMessage } from './row-checksum.ts';

/** Rows per transaction: neither memory nor the write-ahead log may grow with the table. */
const BATCH = 500;

interface Table {
  name: 'events' | 'messages';
  key: string;
  checksum: string;
  isIntact(row: Record<string, unknown>): boolean;
}

const EVENTS: Table = {
  name: 'events',
  key: '"offset"',
  checksum: 'event_checksum(ws_id, "offset", ?1, created_ms)',
  isIntact: isIntactEvent,
};
const MESSAGES: Table = {
  name: 'messages',
  key: 'seq',
  checksum: 'message_checksum(ws_id, seq, run_id, ?1, created_ms)',
  isIntact: isIntactMessage,
};

/** Bodies that begin with one of these texts, and what each becomes; undefined for one that stays as it is. */
interface Rewriting {
  beginnings: readonly string[];
  rewrite(body: string): string | undefined;
}

export const rewriteEvents = (connection: Connection, rewriting: Rewriting): void =>
  rewriteBodies(connection, EVENTS, rewriting);

export const rewriteMessages = (connection: Connection, rewriting: Rewriting): void =>
  rewriteBodies(connection, MESSAGES, rewriting);

/**
 * Writes new bodies with their checksums. A damaged row is left alone, or its new checksum would make it look intact. Once
 * interrupted it starts over; `rewrite` passes over what is done.
 */
function rewriteBodies(connection: Connection, table: Table, { beginnings, rewrite }: Rewriting): void {
  const { name, key } = table;
  const begins = beginnings.map((text) => `substr(body_json, 1, ${text.length}) = '${text}'`).join(' or ');
  const read = `select *, ${key} as place from ${name}
    where (ws_id, ${key}) > (?, ?) and (${begins}) order by ws_id, ${key} limit ${BATCH}`;
  const write = `update ${name} set body_json = ?1, checksum = ${table.checksum} where ws_id = ?2 and ${key} = ?3`;
  let from: unknown[] = ['', 0];
  for (;;) {
    const rows = [...connection.iterateStored(read, from)];
    const last = rows.at(-1);
    if (!last) return;
    inTransaction(connection, () => {
      for (const row of rows) {
        const body = table.isIntact(row) ? rewrite(String(row.body_json)) : undefined;
        if (body !== undefined) connection.run(write, [body, row.ws_id, row.place]);
      }
    });
    from = [last.ws_id, last.place];
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
