import type { EventRow } from '../checked-rows.ts';
import { eventChecksum } from '../row-checksum.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import type { Statement } from '../store.ts';
import { pack } from './packed-body.ts';

export type CompactedStore = Pick<SqliteStore, 'commit' | 'readEventRows'>;

/** Rows of one step, so that it blocks the event loop for about a millisecond. A packed row has no more events. */
const STEP = 512;
/** Limits a packed row, because a reader inside it reads all of it. */
const MAX_CHARS = 32_768;

/**
 * Packs the deltas of the next rows of a log, up to `through`, in one unit. Returns the offset to continue after;
 * `through` when nothing is left. Rejects with UnitRefused when the rows changed meanwhile.
 */
export async function compactStep(
  store: CompactedStore,
  { wsId, after, through }: { wsId: string; after: number; through: number },
): Promise<number> {
  const rows = await store.readEventRows(wsId, after, STEP);
  const ended = rows.filter(({ offset }) => offset <= through);
  const groups = adjacentDeltas(ended, after);
  const end = ended.at(-1)?.offset ?? through;
  const isLast = end >= through;
  // The next step continues a text that may go on, unless nothing else is in this one.
  const open = groups.at(-1);
  const isOpen = !isLast && rows.length === STEP && open?.at(-1)?.offset === end && open.length < STEP;
  if (isOpen) groups.pop();
  const next = isOpen ? (open?.[0]?.offset ?? end) - 1 : end;
  const statements = groups.flatMap((group) => packed(wsId, group));
  if (statements.length > 0 || isLast) await store.commit({ statements: [...statements, mark(wsId, next)] });
  return next;
}

/** Groups of rows with one delta and the next offset each; an empty one stands for other rows. */
function adjacentDeltas(rows: readonly EventRow[], after: number): EventRow[][] {
  const groups: EventRow[][] = [];
  let [place, chars] = [after, 0];
  for (const row of rows) {
    const isNext = row.offset === place + 1;
    const newest = groups.at(-1);
    if (!DELTA.test(row.body)) groups.push([]);
    else if (newest && isNext && chars + row.body.length <= MAX_CHARS) newest.push(row);
    else {
      groups.push([row]);
      chars = 0;
    }
    chars += row.body.length;
    place = row.offset;
  }
  return groups;
}

/** Replaces the rows of a group by one. */
function packed(wsId: string, group: readonly EventRow[]): Statement[] {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last || first === last) return [];
  const body_json = pack(group.map(({ body }) => body));
  if (body_json === undefined) return [];
  const { offset, createdMs } = last;
  const checksum = eventChecksum({ ws_id: wsId, offset, body_json, created_ms: createdMs });
  const others = build
    .deleteFrom('events')
    .where('ws_id', '=', wsId)
    .where('offset', '>=', first.offset)
    .where('offset', '<', offset);
  const own = build
    .updateTable('events')
    .set({ body_json, checksum })
    .where('ws_id', '=', wsId)
    .where('offset', '=', offset)
    .where('body_json', '=', last.body);
  return [statementOf(others, group.length - 1), statementOf(own, 1)];
}

/**
 * Also stores the end of the log: if the packed row is damaged later, the log must not continue within the offsets of its
 * events. Nothing for a log that was removed meanwhile.
 */
const mark = (wsId: string, compacted: number): Statement => ({
  sql: MARK,
  parameters: [wsId, compacted, compacted, wsId],
});

const DELTA = /^\{"type":"(content|reasoning|tool_output_chunk)"/;
const MARK = `insert into log_heads (ws_id, "first", "last", compacted)
  select ?, 1, ?, ? where exists (select 1 from events where ws_id = ?)
  on conflict (ws_id) do update set "last" = max("last", excluded."last"), compacted = max(compacted, excluded.compacted)`;
