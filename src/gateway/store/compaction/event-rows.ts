import { eventChecksum } from '../row-checksum.ts';
import { type Connection, pageBytesOf } from '../sqlite/sqlite-connection.ts';
import type { StoredEvent } from '../store.ts';
import { Packer } from './packed-body.ts';

/** Writes events into their table, in a transaction. */
export interface EventRows {
  write(wsId: string, event: StoredEvent, nowMs: number): void;
  /** The transaction was rolled back. */
  forget(): void;
}

/** The newest row of a log, to which the next delta can be added. */
interface OpenRow {
  offset: number;
  checksum: number;
  deltas: Packer;
}

/**
 * A delta is added to the row of the delta before it while the row fits into its page. With a row of its own, each would
 * make SQLite move rows between pages more often, which writes whole pages to the log (decision 53).
 */
export function createEventRows(connection: Connection): EventRows {
  const maxChars = charsThatFit(connection);
  const open = new Map<string, OpenRow>();
  const grow = (wsId: string, { offset, json }: StoredEvent, nowMs: number): boolean => {
    const row = open.get(wsId);
    if (row?.offset !== offset - 1 || !row.deltas.add(json)) return false;
    const columns = { ws_id: wsId, offset, body_json: row.deltas.body(), created_ms: nowMs };
    if (columns.body_json.length > maxChars) return false;
    const checksum = eventChecksum(columns);
    const found = [wsId, row.offset, row.checksum];
    if (connection.run(GROW, [offset, columns.body_json, nowMs, checksum, ...found]) === 0) return false; // packed or removed meanwhile
    row.offset = offset;
    row.checksum = checksum;
    return true;
  };
  return {
    write(wsId, event, nowMs) {
      if (grow(wsId, event, nowMs)) return;
      const { offset, json } = event;
      const checksum = eventChecksum({ ws_id: wsId, offset, body_json: json, created_ms: nowMs });
      connection.run(INSERT, [wsId, offset, json, nowMs, checksum]);
      const deltas = new Packer();
      if (deltas.add(json)) open.set(wsId, { offset, checksum, deltas });
      else open.delete(wsId);
    },
    forget: () => open.clear(),
  };
}

/** SQLite keeps up to a quarter of a page of a row in the tree; of longer ones, it moves the rest to other pages. */
const charsThatFit = (connection: Connection): number =>
  Math.min(MAX_CHARS, Math.floor(pageBytesOf(connection) / 4) - OTHER_BYTES);

/** Growing further would write more, because SQLite moves rows between pages when it removes a long one. */
const MAX_CHARS = 256;
/** The other columns of a row, and what SQLite adds. */
const OTHER_BYTES = 100;
const INSERT = 'insert into events (ws_id, "offset", body_json, created_ms, checksum) values (?, ?, ?, ?, ?)';
const GROW = `update events set "offset" = ?, body_json = ?, created_ms = ?, checksum = ?
  where ws_id = ? and "offset" = ? and checksum = ?`;
