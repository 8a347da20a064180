import type { EventRow } from '../checked-rows.ts';
import { eventChecksum } from '../row-checksum.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import type { Statement } from '../store.ts';
import { isPacked, MAX_ROW_EVENTS, Packer, unpack } from './packed-body.ts';

export type CompactedStore = Pick<SqliteStore, 'commit' | 'readEventRows'>;

/** Limits one step, so that it blocks the event loop for about a millisecond. */
const STEP = { rows: 512, events: MAX_ROW_EVENTS };
/** Limits a packed row, because a reader inside it reads all of it. */
const MAX_CHARS = 32_768;

/** A row and its events. */
interface Row extends EventRow {
  events: string[];
}

/**
 * Packs the deltas of the next rows of a log, up to `through`, in one unit. Returns the offset to continue after;
 * `through` when nothing is left. Rejects with UnitRefused when the rows changed meanwhile.
 */
export async function compactStep(
  store: CompactedStore,
  { wsId, after, through }: { wsId: string; after: number; through: number },
): Promise<number> {
  const { rows, isMore } = firstRows(await store.readEventRows(wsId, after, STEP.rows), through);
  const groups = adjacentDeltas(rows);
  const end = rows.at(-1)?.offset ?? through;
  const isLast = end >= through;
  // The next step continues a text that may go on, unless nothing else is in this one.
  const open = groups.at(-1);
  const first = isMore && !isLast ? open?.[0] : undefined;
  const isOpen = first !== undefined && first !== rows[0];
  if (isOpen) groups.pop();
  const next = isOpen ? firstOf(first) - 1 : end;
  const statements = groups.flatMap((group) => packed(wsId, group));
  if (statements.length > 0 || isLast) await store.commit({ statements: [...statements, mark(wsId, next)] });
  return next;
}

function firstRows(read: readonly EventRow[], through: number): { rows: Row[]; isMore: boolean } {
  const rows: Row[] = [];
  let events = 0;
  for (const row of read) {
    if (row.offset > through) return { rows, isMore: false };
    if (events >= STEP.events) return { rows, isMore: true };
    rows.push({ ...row, events: unpack(row.body) });
    events += rows.at(-1)?.events.length ?? 0;
  }
  return { rows, isMore: read.length === STEP.rows };
}

/** Groups of rows with deltas and adjacent offsets; an empty one stands for other rows. */
function adjacentDeltas(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let [chars, events] = [0, 0];
  for (const [index, row] of rows.entries()) {
    chars += row.body.length;
    events += row.events.length;
    const isNext = firstOf(row) === (rows[index - 1]?.offset ?? 0) + 1;
    const newest = groups.at(-1);
    if (!isDeltas(row)) groups.push([]);
    else if (newest?.length && isNext && chars <= MAX_CHARS && events <= MAX_ROW_EVENTS) newest.push(row);
    else {
      groups.push([row]);
      [chars, events] = [row.body.length, row.events.length];
    }
  }
  return groups;
}

const firstOf = ({ offset, events }: Row): number => offset - events.length + 1;

const isDeltas = ({ body, blockBytes }: Row): boolean =>
  blockBytes === undefined && (isPacked(body) || new Packer().add(body));

/** Replaces the rows of a group by one. */
function packed(wsId: string, group: readonly Row[]): Statement[] {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last || first === last) return [];
  const deltas = new Packer();
  if (!group.every(({ events }) => events.every((json) => deltas.add(json)))) return [];
  const body_json = deltas.body();
  const { offset, createdMs } = last;
  const checksum = eventChecksum({ ws_id: wsId, offset, body_json, created_ms: createdMs });
  const own = build
    .updateTable('events')
    .set({ body_json, checksum })
    .where('ws_id', '=', wsId)
    .where('offset', '=', offset)
    .where('body_json', '=', last.body);
  return [deleteRows(wsId, group.slice(0, -1)), statementOf(own, 1)];
}

/**
 * Also stores the end of the log: if the packed row is damaged later, the log must not continue within the offsets of its
 * events. Nothing for a log that was removed meanwhile.
 */
const mark = (wsId: string, compacted: number): Statement => ({
  sql: MARK,
  parameters: [wsId, compacted, compacted, wsId],
});

const MARK = `insert into log_heads (ws_id, "first", "last", compacted)
  select ?, 1, ?, ? where exists (select 1 from events where ws_id = ?)
  on conflict (ws_id) do update set "last" = max(log_heads."last", excluded."last"),
    compacted = max(log_heads.compacted, excluded.compacted)`;

/** Deletes neighbouring rows of a log. The unit is refused if one of them is gone. */
export function deleteRows(wsId: string, rows: readonly EventRow[]): Statement {
  const [from, to] = [rows[0]?.offset ?? 0, rows.at(-1)?.offset ?? 0];
  const range = build.deleteFrom('events').where('ws_id', '=', wsId).where('offset', '>=', from);
  return statementOf(range.where('offset', '<=', to), rows.length);
}
