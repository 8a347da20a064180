import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Statement, UnitEvents } from './store.ts';

/** Statements that store the events which people read between the messages, if no message has their content. */
export function* notesOf(
  { wsId, events, inMessages }: UnitEvents,
  { offsets, nowMs }: { offsets: readonly number[]; nowMs: number },
): Generator<Statement> {
  if (inMessages) return;
  for (const [index, event] of events.entries()) {
    const offset = offsets[index];
    if (offset !== undefined && isNote(event))
      yield { sql: INSERT_NOTE, parameters: [offset, JSON.stringify(event), nowMs, wsId] };
  }
}

const NOTES: readonly StreamEvent['type'][] = ['info', 'error', 'approval_resolved', 'compacted'];
const isNote = ({ type }: StreamEvent) => NOTES.includes(type);

const INSERT_NOTE = `insert into notes (ws_id, after_seq, "offset", body_json, created_ms)
  select ws_id, message_count, ?, ?, ? from workstreams where ws_id = ?`;
