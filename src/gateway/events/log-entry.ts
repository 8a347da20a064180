import { formatCursor } from '../../../protocol/cursor.ts';
import { encodeTextFrame } from '../frame-encoding.ts';
import type { StoredEvent } from '../store/store.ts';
import type { LogEntry } from './log-reader.ts';
import { toSseFrames } from './sse-frames.ts';

const TYPE_AT = '{"type":"'.length;

/** Wraps a stored event. Each transport's bytes are created at most once, on first use. */
export function toLogEntry(log: { wsId: string; epoch: string }, { offset, json }: StoredEvent): LogEntry {
  const cursor = formatCursor({ epoch: log.epoch, offset });
  const type = typeOf(json);
  let sse: string | undefined;
  let wsFrame: Buffer | undefined;
  return {
    offset,
    json,
    type,
    sse() {
      sse ??= toSseFrames({ wsId: log.wsId, cursor, type }, json);
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

/** The type of a stored event, without parsing the rest of it. */
export const typeOf = (json: string): string => json.slice(TYPE_AT, json.indexOf('"', TYPE_AT));
