import type { Connection } from '../sqlite/sqlite-connection.ts';
import { faultOf } from '../sqlite/sqlite-errors.ts';
import { bodyOfBlock, type TextsOf } from './block.ts';

type Row = Record<string, unknown>;

/** Reads rows of events, blocks with their bodies. A damaged block stays as it is, which no intact row is. */
export function* iterateEvents(connection: Connection, sql: string, parameters: readonly unknown[]): Iterable<Row> {
  for (const row of connection.iterateStored(sql, parameters)) yield withBody(connection, row);
}

function withBody(connection: Connection, row: Row): Row {
  const { ws_id: wsId, body_json: block } = row;
  if (!(block instanceof Uint8Array)) return row;
  const textsOf: TextsOf = ({ after, upTo }) => {
    try {
      return connection.all(READ_TEXTS, [wsId, after, upTo]).map(({ body_json }) => String(body_json));
    } catch (error) {
      if (faultOf(error) !== 'damaged') throw error;
      return []; // only this block is lost
    }
  };
  return { ...row, body_json: bodyOfBlock(block, textsOf) ?? block, block_bytes: block.length };
}

/** Unchecked, because the checksum of the block covers what it becomes with them. */
const READ_TEXTS = 'select body_json from messages where ws_id = ? and seq > ? and seq <= ? order by seq';
