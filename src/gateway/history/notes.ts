import { z } from 'zod';
import { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { DecidedBy, type HistoryNote, STREAM_EVENTS } from '../../../protocol/stream-events.ts';
import { DamagedRow } from '../store/row-checksum.ts';
import type { ApprovalTable, NoteTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { newestWithin } from './history.ts';

/** Limits per page, because a program may write many notes between two messages. */
const MOST = { notes: 200, chars: 64 * 1024 };

/** Reads the notes between the messages. Placeholders replace damaged ones. */
export interface Notes {
  /**
   * Notes after the messages `from` to `upTo`, oldest first; if there are too many, the newest. After the message
   * `upTo` itself, only notes up to the log's `offset`.
   */
  page(wsId: string, range: NoteRange): Promise<HistoryNote[]>;
  /** The newest `most` of a range, oldest first, whatever their size. */
  newest(wsId: string, range: NoteRange, most: number): Promise<HistoryNote[]>;
}

interface NoteRange {
  from: number;
  upTo: number;
  offset?: number;
}

export function createNotes({ db, reportDamage }: Pick<Store, 'db' | 'reportDamage'>): Notes {
  const newest: Notes['newest'] = async (wsId, { from, upTo, offset = Number.MAX_SAFE_INTEGER }, most) => {
    const rows = await db
      .selectFrom('notes')
      .selectAll()
      .where('ws_id', '=', wsId)
      .where('after_seq', '>=', from)
      .where('after_seq', '<=', upTo)
      .where((where) => where.or([where('after_seq', '<', upTo), where('offset', '<=', offset)]))
      .orderBy('after_seq', 'desc')
      .orderBy('offset', 'desc')
      .limit(most)
      .execute();
    const told = rows.reverse().map((row) => ({ row, event: read(NoteEvent, row.body_json) }));
    const asked = told.flatMap(({ event }) => (event?.type === 'approval_resolved' ? [event.approval_id] : []));
    const approvals = await readApprovals(db, asked);
    return told.flatMap(({ row, event }) => {
      const note = event && toNote(row, event, approvals);
      if (note === undefined) reportDamage(new DamagedRow(`note ${row.offset} of workstream ${wsId} is altered`));
      return note ?? { after_seq: row.after_seq, created_ms: row.created_ms, ...UNREADABLE };
    });
  };
  return { newest, page: async (wsId, range) => newestWithin(await newest(wsId, range, MOST.notes), MOST.chars) };
}

const { info, error, approval_resolved, compacted } = STREAM_EVENTS;
/** A decision of an imported conversation, whose question is stored nowhere else. */
const ImportedDecision = z.object({
  type: z.literal('decision'),
  approval_id: z.string(),
  question: z.enum(['tools', 'outcome']),
  calls: z.array(z.object({ call_id: z.string(), name: z.string() })),
  approved: z.boolean(),
  always: z.boolean(),
  feedback: z.string(),
  by: DecidedBy,
});
export type ImportedDecision = z.infer<typeof ImportedDecision>;
const NoteEvent = z.discriminatedUnion('type', [info, error, approval_resolved, compacted, ImportedDecision]);
type NoteEvent = z.infer<typeof NoteEvent>;
const Items = z.array(ApprovalItem.pick({ call_id: true, func_name: true }));
type Asked = Pick<ApprovalTable, 'approval_id' | 'kind' | 'items_json'>;

const UNREADABLE = {
  kind: 'error',
  message: '[This note is damaged in the database and cannot be shown.]',
  damaged: true,
} as const;

/** Undefined for a text that is damaged. */
function read<S extends z.ZodType>(schema: S, json: string): z.infer<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined; // not JSON
  }
}

async function readApprovals(db: Store['db'], ids: readonly string[]): Promise<Map<string, Asked>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('approvals')
    .select(['approval_id', 'kind', 'items_json'])
    .where('approval_id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.approval_id, row]));
}

/**
 * The only questions without calls or files are those about budgets. Several workstreams share one, whose row may have
 * been deleted with another workstream.
 */
const SHARED = { kind: 'budget', items_json: '[]' } as const;

/** Skips a decision whose question is no longer stored. Undefined when the question is damaged. */
function toNote(
  { after_seq, created_ms }: NoteTable,
  event: NoteEvent,
  approvals: ReadonlyMap<string, Asked>,
): HistoryNote[] | undefined {
  const told = { after_seq, created_ms };
  if (event.type === 'compacted') {
    const { type: kind, to_seq, messages, summary } = event;
    return [{ ...told, kind, to_seq, messages, summary }];
  }
  if (event.type === 'info') {
    const { type: kind, ...info } = event;
    return [{ ...told, ...info, kind }];
  }
  if (event.type === 'error') return [{ ...told, kind: event.type, message: event.message }];
  if (event.type === 'decision') {
    const { type: kind, ...decision } = event;
    return [{ ...told, kind, ...decision }];
  }
  const { approval_id, approved, always, feedback, by, plan } = event;
  const asked = approvals.get(approval_id) ?? (event.call_ids.length === 0 ? SHARED : undefined);
  if (!asked) return [];
  const calls = read(Items, asked.items_json)?.map(({ call_id, func_name }) => ({ call_id, name: func_name }));
  const decision = { approval_id, question: asked.kind, calls: calls ?? [], approved, always, feedback, by };
  return calls && [{ ...told, kind: 'decision', ...decision, ...(plan && { plan }) }];
}
