import type { Connection } from '../../sqlite/sqlite-connection.ts';

/** Rows per transaction. */
const BATCH = 5_000;

/**
 * Adds checksums to all events and messages without one, except to bodies that are not JSON, so that those count as
 * damaged. Each batch is a separate transaction, so neither memory nor the write-ahead log grows with the table. An
 * interrupted pass starts over and skips finished rows.
 */
export function fillChecksums(connection: Connection): void {
  fill(connection, {
    table: 'events',
    key: '"offset"',
    checksum: 'event_checksum(ws_id, "offset", body_json, created_ms)',
  });
  fill(connection, {
    table: 'messages',
    key: 'seq',
    checksum: 'message_checksum(ws_id, seq, run_id, body_json, created_ms)',
  });
}

function fill(connection: Connection, { table, key, checksum }: Record<'table' | 'key' | 'checksum', string>): void {
  const endOfBatch = `select ws_id, ${key} as place from ${table} where (ws_id, ${key}) > (?, ?)
    order by ws_id, ${key} limit 1 offset ${BATCH - 1}`;
  const fillBatch = `update ${table} set checksum = ${checksum}
    where (ws_id, ${key}) > (?, ?) and (ws_id, ${key}) <= (?, ?) and checksum is null and json_valid(body_json)`;
  const fillRest = `update ${table} set checksum = ${checksum} where (ws_id, ${key}) > (?, ?)
    and checksum is null and json_valid(body_json)`;
  let from: unknown[] = ['', 0];
  for (;;) {
    const [end] = connection.all(endOfBatch, from);
    if (!end) break;
    connection.run(fillBatch, [...from, end.ws_id, end.place]);
    from = [end.ws_id, end.place];
  }
  connection.run(fillRest, from);
}
