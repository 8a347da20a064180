import type { HistoryNote, StreamEventOf } from '../../../protocol/stream-events.ts';
import type { ApprovalTable, NoteTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { newestWithin } from './history.ts';

/** Limits per page, because a program may write many notes between two messages. */
const MOST = { notes: 200, chars: 64 * 1024 };

/** Reads the notes between the messages. */
export interface Notes {
  /**
   * Notes after the messages `from` to `upTo`, oldest first; if there are too many, the newest. After the message
   * `upTo` itself, only notes up to the log's `offset`.
   */
  page(wsId: string, range: { from: number; upTo: number; offset?: number }): Promise<HistoryNote[]>;
}

export const createNotes = ({ db }: Pick<Store, 'db'>): Notes => ({
  async page(wsId, { from, upTo, offset = Number.MAX_SAFE_INTEGER }) {
    const rows = await db
      .selectFrom('notes')
      .selectAll()
      .where('ws_id', '=', wsId)
      .where('after_seq', '>=', from)
      .where('after_seq', '<=', upTo)
      .where((where) => where.or([where('after_seq', '<', upTo), where('offset', '<=', offset)]))
      .orderBy('after_seq', 'desc')
      .orderBy('offset', 'desc')
      .limit(MOST.notes)
      .execute();
    const told = rows.reverse().map((row) => ({ row, event: toEvent(row) }));
    const asked = told.flatMap(({ event }) => (event.type === 'approval_resolved' ? [event.approval_id] : []));
    const approvals = await readApprovals(db, asked);
    return newestWithin(
      told.flatMap(({ row, event }) => toNote(row, event, approvals)),
      MOST.chars,
    );
  },
});

type NoteEvent = StreamEventOf<'info'> | StreamEventOf<'error'> | StreamEventOf<'approval_resolved'>;
type Asked = Pick<ApprovalTable, 'approval_id' | 'kind' | 'items_json'>;

const toEvent = ({ body_json }: NoteTable): NoteEvent => JSON.parse(body_json);

async function readApprovals(db: Store['db'], ids: readonly string[]): Promise<Map<string, Asked>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('approvals')
    .select(['approval_id', 'kind', 'items_json'])
    .where('approval_id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.approval_id, row]));
}

/** Skips a decision whose question is no longer stored. */
function toNote(
  { after_seq, created_ms }: NoteTable,
  event: NoteEvent,
  approvals: ReadonlyMap<string, Asked>,
): HistoryNote[] {
  const told = { after_seq, created_ms };
  if (event.type !== 'approval_resolved') return [{ ...told, kind: event.type, message: event.message }];
  const { approval_id, approved, always, feedback, by } = event;
  const asked = approvals.get(approval_id);
  if (!asked) return [];
  const items: { call_id: string; func_name: string }[] = JSON.parse(asked.items_json);
  const calls = items.map(({ call_id, func_name }) => ({ call_id, name: func_name }));
  return [
    { ...told, kind: 'decision', approval_id, question: asked.kind, calls, ...{ approved, always, feedback, by } },
  ];
}
