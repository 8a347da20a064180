import { formatCursor } from '../../../protocol/cursor.ts';
import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import { encodeTextFrame } from '../frame-encoding.ts';
import type { StoredEvent } from '../store/store.ts';
import type { LogEntry } from './log-reader.ts';

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

/** A log event as SSE frames. */
export const toSseFrames = (cursor: string, json: string): string => toSse(cursor, typeOf(json), json);

/** The type of a stored event, without parsing the rest of it. */
export const typeOf = (json: string): string => json.slice(TYPE_AT, json.indexOf('"', TYPE_AT));

/**
 * `ws_state` is also sent under its later name `state_change`, and an error is followed by an idle, which HTTP clients
 * wait for. Only the last frame of the group has the id, so a client that disconnects earlier gets the whole group
 * again (decision 3).
 */
function toSse(cursor: string, type: string, json: string): string {
  if (type !== 'ws_state') return withId(cursor, json);
  const event: StreamEventOf<'ws_state'> = JSON.parse(json);
  if (event.state !== 'error') return `${asChange(event)}${withId(cursor, json)}`;
  const idle = { type: 'ws_state', ws_id: event.ws_id, state: 'idle' } as const;
  return `${asChange(event)}data: ${json}\n\n${asChange(idle)}${withId(cursor, JSON.stringify(idle))}`;
}

const withId = (cursor: string, json: string): string => `id: ${cursor}\ndata: ${json}\n\n`;

const asChange = (event: StreamEventOf<'ws_state'>): string =>
  `data: ${JSON.stringify({ ...event, type: 'state_change' })}\n\n`;
