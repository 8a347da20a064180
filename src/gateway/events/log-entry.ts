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
      sse ??= toSse(cursor, type, toStreamed(log.wsId, json));
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

/** An event of a workstream's log as SSE frames. */
export const toSseFrames = (wsId: string, cursor: string, json: string): string =>
  toSse(cursor, typeOf(json), toStreamed(wsId, json));

/**
 * An event as HTTP clients of later releases read it, with the fields that these have in addition. The names are spliced in,
 * because most events are short and many.
 */
export function toStreamed(wsId: string, json: string): string {
  const type = typeOf(json);
  if (NAMED.has(type)) return json;
  const at = TYPE_AT + type.length + 1;
  return `${json.slice(0, at)},"ws_id":"${wsId}"${laterFieldsOf(type, json)}${json.slice(at)}`;
}

/** These have their `ws_id` in any case. */
const NAMED = new Set(['connected', 'in_progress_snapshot', 'state_change', 'ws_state', 'ws_rename']);

function laterFieldsOf(type: string, json: string): string {
  if (type === 'approve_request' || type === 'approval_resolved') {
    const { approval_id }: { approval_id: string } = JSON.parse(json);
    return `,"cycle_id":${JSON.stringify(approval_id)}`;
  }
  if (type !== 'user_turn') return '';
  const { message, run_id }: StreamEventOf<'user_turn'> = JSON.parse(json);
  return `,"content":${JSON.stringify(message)},"client_send_ids":${JSON.stringify([run_id])}`;
}

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
