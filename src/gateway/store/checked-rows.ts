import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { unpack } from './compaction/packed-body.ts';
import { iterateEvents } from './compaction/stored-events.ts';
import { DELETED } from './deletion.ts';
import type { LogHeads } from './log-heads.ts';
import { DamagedRow, isIntactEvent, isNumber, messageChecksums } from './row-checksum.ts';
import type { Connection } from './sqlite/sqlite-connection.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import type { MessageRange, StoredEvent, StoredRow } from './store.ts';

/** The only way to read events and messages: compares each row with its checksum, and detects missing rows. */
export interface CheckedRows {
  /** See `Store.readEvents`. */
  events(wsId: string, after: number, limit: number): StoredEvent[];
  /** See `Store.findNewestEvent`. */
  newestEvent(wsId: string, type: StreamEvent['type'], before?: number): number;
  /** See `Store.readMessages`. */
  messages(wsId: string, range: MessageRange): StoredRow[];
  /** See `SqliteStore.readEventRows`. */
  eventRows(wsId: string, after: number, limit: number): EventRow[];
}

/** A row of a log as it is stored: one event, or several adjacent ones (`unpack`). */
export interface EventRow {
  /** Of its last event. */
  offset: number;
  body: string;
  createdMs: number;
  /** The size of its block; absent if it is stored as it is. */
  blockBytes?: number;
}

interface CheckedRowsDeps {
  connection: Connection;
  heads: Pick<LogHeads, 'bounds'>;
  /** Called for all damage, even where a placeholder is returned. */
  onDamage(error: unknown): void;
}

export const createCheckedRows = (deps: CheckedRowsDeps): CheckedRows => ({
  events: (wsId, after, limit) => readEvents(deps, { wsId, after, limit }),
  newestEvent: (wsId, type, before) => findNewestEvent(deps, { wsId, type, before }),
  messages: (wsId, range) => readMessages(deps, { wsId, ...range }),
  eventRows: (wsId, after, limit) => readEventRows(deps, { wsId, after, limit }),
});

function readEvents(
  deps: CheckedRowsDeps,
  { wsId, after, limit }: { wsId: string; after: number; limit: number },
): StoredEvent[] {
  const { first, last } = deps.heads.bounds(wsId);
  const place: Place = { next: Math.max(after + 1, first), rowsLeft: limit, eventsLeft: limit };
  const lost = (from: number, through: number) => placeholder(deps, { wsId, from, through });
  const rows = readable(iterateEvents(deps.connection, READ_EVENTS, [wsId, after, limit]), deps);
  const page = [...withoutHoles(rows, place, lost)];
  if (place.next > last) return page;
  if (place.rowsLeft > 0) return [...page, ...lost(place.next, last)];
  // Damage at the end of a full page is reported with the next page. An empty page would mean the end, so it gets the
  // placeholder.
  return page.length > 0 ? page : lost(place.next, Math.min(last, place.next + limit - 1));
}

/** How far a page of a log is. */
export interface Place {
  /** The next expected offset. */
  next: number;
  /** Above 0 when there were fewer rows than the limit. */
  rowsLeft: number;
  /** A row can have several events. */
  eventsLeft: number;
}

/** The events of the rows from `place` on, with what `lost` returns for those that are missing or altered. */
export function* withoutHoles(
  rows: Rows,
  place: Place,
  lost: (from: number, through: number) => StoredEvent[],
): Iterable<StoredEvent> {
  let chars = 0;
  for (const row of rows) {
    place.rowsLeft -= 1;
    const offset = Number(row.offset);
    if (offset < place.next || !isIntactEvent(row)) continue;
    const events = unpack(String(row.body_json));
    const first = offset - events.length + 1;
    if (first > place.next) yield* lost(place.next, first - 1);
    place.next = Math.max(place.next, first);
    for (const json of events.slice(place.next - first)) {
      yield { offset: place.next, json };
      place.next += 1;
      place.eventsLeft -= 1;
      chars += json.length;
      if (place.eventsLeft > 0 && chars < MAX_READ_CHARS) continue;
      place.rowsLeft = 0;
      return;
    }
  }
}

function findNewestEvent(
  deps: CheckedRowsDeps,
  {
    wsId,
    type,
    before = Number.POSITIVE_INFINITY,
  }: { wsId: string; type: StreamEvent['type']; before?: number | undefined },
): number {
  const { first, last } = deps.heads.bounds(wsId);
  let next = last;
  for (const row of readable(iterateEvents(deps.connection, READ_EVENTS_BACK, [wsId]), deps)) {
    if (Number(row.offset) !== next || !isIntactEvent(row)) break;
    const events = unpack(String(row.body_json));
    const start = next - events.length + 1;
    const found = events.findLastIndex((json, index) => start + index < before && json.startsWith(`{"type":"${type}"`));
    if (found >= 0) return start + found;
    next = start - 1;
  }
  if (next < first) return 0;
  return placeholder(deps, { wsId, from: next, through: next })[0]?.offset ?? 0;
}

function readMessages(
  deps: CheckedRowsDeps,
  { wsId, after, upTo, limit }: MessageRange & { wsId: string },
): StoredRow[] {
  const through = Math.min(upTo, messageCountOf(deps, wsId) ?? 0);
  const from = Math.max(after, through - limit);
  const found = intactMessages(deps, { wsId, from, through });
  const lost = through - from - found.length;
  if (lost <= 0) return found;
  const error = new DamagedRow(`${lost} messages of workstream ${wsId} are missing or altered`);
  if (lost > MAX_LOST) throw error;
  deps.onDamage(error);
  return withPlaceholders(found, { from, through });
}

/** One row for each number of the range. */
export function withPlaceholders(
  found: readonly StoredRow[],
  { from, through }: { from: number; through: number },
): StoredRow[] {
  const intact = new Map(found.map((row) => [row.seq, row]));
  const rows: StoredRow[] = [];
  for (let seq = from + 1; seq <= through; seq += 1) {
    rows.push(intact.get(seq) ?? { seq, createdMs: rows.at(-1)?.createdMs ?? 0, runId: null, json: undefined });
  }
  return rows;
}

/** Without damaged rows. Ends early when too many are damaged. */
function intactMessages(
  { connection }: CheckedRowsDeps,
  { wsId, from, through }: { wsId: string; from: number; through: number },
): StoredRow[] {
  const found: StoredRow[] = [];
  const checksumOf = messageChecksums(wsId);
  let latestRun: unknown = null;
  for (let at = from; at < through && at - from - found.length <= MAX_LOST; at += READ_AT_ONCE) {
    const rows = connection.allStored(READ_MESSAGES, [wsId, at, Math.min(at + READ_AT_ONCE, through)]);
    for (const [seq, run, json, createdMs, checksum] of rows) {
      if (run !== latestRun) latestRun = run; // messages of one run keep one string
      const row = toStoredRow({ seq, run: latestRun, json, createdMs });
      if (row && isNumber(checksum) && Number(checksum) === checksumOf(row)) found.push(row);
    }
  }
  return found;
}

/** One row of messages; undefined if it is damaged. */
export function intactMessage(wsId: string, row: Record<string, unknown>): StoredRow | undefined {
  const { seq, run_id: run, body_json: json, created_ms: createdMs, checksum } = row;
  const stored = toStoredRow({ seq, run, json, createdMs });
  return stored && isNumber(checksum) && Number(checksum) === messageChecksums(wsId)(stored) ? stored : undefined;
}

/** Without damaged rows. */
function readEventRows(
  deps: CheckedRowsDeps,
  { wsId, after, limit }: { wsId: string; after: number; limit: number },
): EventRow[] {
  const found: EventRow[] = [];
  for (const row of readable(iterateEvents(deps.connection, READ_EVENTS, [wsId, after, limit]), deps)) {
    if (!isIntactEvent(row)) continue;
    const { block_bytes: blockBytes } = row;
    const block = blockBytes !== undefined && { blockBytes: Number(blockBytes) };
    found.push({
      offset: Number(row.offset),
      body: String(row.body_json),
      createdMs: Number(row.created_ms),
      ...block,
    });
  }
  return found;
}

type Rows = Iterable<Record<string, unknown>>;

/** Ends at the first page of the file that cannot be read. */
function* readable(rows: Rows, { onDamage }: CheckedRowsDeps): Rows {
  try {
    yield* rows;
  } catch (error) {
    if (faultOf(error) !== 'damaged') throw error;
    onDamage(error);
  }
}

/** Nothing for a workstream that is being removed: its rows are removed in batches, so missing rows are not damage. */
function placeholder(
  deps: CheckedRowsDeps,
  { wsId, from, through }: { wsId: string; from: number; through: number },
): StoredEvent[] {
  if (messageCountOf(deps, wsId) === undefined) return [];
  deps.onDamage(new DamagedRow(`events ${from} to ${through} of workstream ${wsId} are missing or altered`));
  return [{ offset: through, json: JSON.stringify(LOST_EVENTS), isDamaged: true }];
}

/** Undefined for a workstream that is removed or being removed. */
function messageCountOf({ connection }: CheckedRowsDeps, wsId: string): number | undefined {
  const [row] = connection.all('select message_count, loaded from workstreams where ws_id = ?', [wsId]);
  return row === undefined || row.loaded === DELETED ? undefined : Number(row.message_count);
}

/** Undefined if a damaged column has another type. Integers are read as bigints, because a damaged one may have any size. */
function toStoredRow({ seq, run, json, createdMs }: Record<'seq' | 'run' | 'json' | 'createdMs', unknown>) {
  if (typeof json !== 'string' || !isNumber(seq) || !isNumber(createdMs)) return undefined;
  if (run !== null && typeof run !== 'string') return undefined;
  return { seq: Number(seq), runId: run, createdMs: Number(createdMs), json };
}

/** What readers get for lost events, with the last of their offsets. */
export const LOST_EVENTS: StreamEvent = {
  type: 'error',
  message: 'Part of this log is damaged in the database and cannot be shown. Reload to see the stored messages.',
  damaged: true,
};
/** Limits the size of a page, because a slow reader would hold all of it in memory. */
export const MAX_READ_CHARS = 512 * 1024;
/** Quicker than row by row, while few rows are in memory twice at any time, which the garbage collector would copy. */
const READ_AT_ONCE = 250;
/** Limits the placeholders, in case the message count itself is wrong. */
export const MAX_LOST = 10_000;
const EVENT_COLUMNS = 'ws_id, "offset", body_json, created_ms, checksum';
const READ_EVENTS = `select ${EVENT_COLUMNS} from events where ws_id = ? and "offset" > ? order by "offset" limit ?`;
const READ_EVENTS_BACK = `select ${EVENT_COLUMNS} from events where ws_id = ? order by "offset" desc`;
/** Not `ws_id`, a string more for every row: the condition compares it, and the checksum contains it. */
const READ_MESSAGES = `select seq, run_id, body_json, created_ms, checksum from messages
  where ws_id = ? and seq > ? and seq <= ? order by seq`;
