import { formatCursor } from '../../../protocol/cursor.ts';
import { encodeTextFrame } from '../frame-encoding.ts';
import type { StoredEvent } from '../store/store.ts';
import type { LogEntry } from './log-reader.ts';

const TYPE_AT = '{"type":"'.length;

/** Wraps a stored event so that each transport's bytes are made at most once, by the first reader that needs them. */
export function toLogEntry(log: { wsId: string; epoch: string }, { offset, json }: StoredEvent): LogEntry {
  const cursor = formatCursor({ epoch: log.epoch, offset });
  const type = json.slice(TYPE_AT, json.indexOf('"', TYPE_AT));
  let sse: string | undefined;
  let wsFrame: Buffer | undefined;
  return {
    offset,
    json,
    type,
    sse() {
      sse ??= toSse(cursor, type, json);
      return sse;
    },
    wsFrame() {
      wsFrame ??= encodeTextFrame(
        `{"type":"event","event":"workstream","payload":{"wsId":"${log.wsId}","cursor":"${cursor}","event":${json}}}`,
      );
      return wsFrame;
    },
  };
}

/** Later releases of the HTTP interface call `ws_state` `state_change`: both are sent, only the one that ends the pair has the id (decision 3). */
function toSse(cursor: string, type: string, json: string): string {
  const frame = `id: ${cursor}\ndata: ${json}\n\n`;
  if (type !== 'ws_state') return frame;
  return `data: {"type":"state_change"${json.slice('{"type":"ws_state"'.length)}\n\n${frame}`;
}
