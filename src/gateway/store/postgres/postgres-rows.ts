import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import {
  intactMessage,
  LOST_EVENTS,
  MAX_LOST,
  MAX_READ_CHARS,
  type Place,
  withoutHoles,
  withPlaceholders,
} from '../checked-rows.ts';
import { unpack } from '../compaction/packed-body.ts';
import { DELETED } from '../deletion.ts';
import { DamagedRow, isIntactEvent } from '../row-checksum.ts';
import type { MessageRange, StoredEvent, StoredRow } from '../store.ts';
import type { PostgresHeads } from './postgres-heads.ts';
import type { Reading } from './reading.ts';

interface RowsDeps {
  reading: Reading;
  heads: Pick<PostgresHeads, 'know' | 'bounds'>;
  /** Called for all damage, even where a placeholder is returned. */
  onDamage(error: unknown): void;
}

/** Reads events and messages as `CheckedRows` does. Other sessions may change rows between two queries. */
export const createPostgresRows = (deps: RowsDeps) => ({
  events: (wsId: string, after: number, limit: number): Promise<StoredEvent[]> =>
    readEvents(deps, { wsId, after, limit }),
  newestEvent: (wsId: string, type: StreamEvent['type'], before = Number.POSITIVE_INFINITY): Promise<number> =>
    findNewestEvent(deps, { wsId, type, before }),
  messages: (wsId: string, range: MessageRange): Promise<StoredRow[]> => readMessages(deps, { wsId, ...range }),
});

async function readEvents(
  deps: RowsDeps,
  { wsId, after, limit }: { wsId: string; after: number; limit: number },
): Promise<StoredEvent[]> {
  await deps.heads.know([wsId]);
  const { first, last } = deps.heads.bounds(wsId);
  if (after >= last) return [];
  const rows = await deps.reading.readStored(READ_EVENTS, [wsId, after, last, limit, MAX_READ_BYTES]);
  const place: Place = { next: Math.max(after + 1, first), rowsLeft: limit, eventsLeft: limit };
  const lost: [from: number, through: number][] = [];
  const placeholder = (from: number, through: number): StoredEvent[] => {
    lost.push([from, through]);
    return [{ offset: through, json: JSON.stringify(LOST_EVENTS), isDamaged: true }];
  };
  const page = [...withoutHoles(rows, place, placeholder)];
  const isCut = rows.length < Number(rows[0]?.total ?? 0);
  if (place.next <= last) {
    if (place.rowsLeft > 0 && !isCut) page.push(...placeholder(place.next, last));
    else if (page.length === 0) page.push(...placeholder(place.next, Math.min(last, place.next + limit - 1)));
  }
  if (lost.length === 0) return page;
  if (deps.heads.bounds(wsId).first !== first) return readEvents(deps, { wsId, after, limit }); // they were removed meanwhile
  if ((await messageCountOf(deps, wsId)) === undefined) return page.filter((event) => !event.isDamaged);
  for (const [from, through] of lost) deps.onDamage(lostEvents(wsId, from, through));
  return page;
}

async function findNewestEvent(
  deps: RowsDeps,
  { wsId, type, before }: { wsId: string; type: StreamEvent['type']; before: number },
): Promise<number> {
  await deps.heads.know([wsId]);
  const { first, last } = deps.heads.bounds(wsId);
  let next = last;
  while (next >= first) {
    const rows = await deps.reading.readStored(READ_EVENTS_BACK, [wsId, next]);
    const intact = takeIntact(rows, next);
    for (const { events, start } of intact) {
      const found = events.findLastIndex((json, at) => start + at < before && json.startsWith(`{"type":"${type}"`));
      if (found >= 0) return start + found;
      next = start - 1;
    }
    if (intact.length === rows.length && rows.length > 0) continue;
    if (next < first || deps.heads.bounds(wsId).first > next || (await messageCountOf(deps, wsId)) === undefined)
      return 0;
    deps.onDamage(lostEvents(wsId, next, next));
    return next;
  }
  return 0;
}

/** The rows before the first one that is damaged or missing, newest first. */
function takeIntact(rows: readonly Record<string, unknown>[], last: number): { events: string[]; start: number }[] {
  const intact: { events: string[]; start: number }[] = [];
  let next = last;
  for (const row of rows) {
    if (Number(row.offset) !== next || !isIntactEvent(row)) break;
    const events = unpack(String(row.body_json));
    const start = next - events.length + 1;
    intact.push({ events, start });
    next = start - 1;
  }
  return intact;
}

async function readMessages(
  deps: RowsDeps,
  { wsId, after, upTo, limit }: MessageRange & { wsId: string },
): Promise<StoredRow[]> {
  const through = Math.min(upTo, (await messageCountOf(deps, wsId)) ?? 0);
  const from = Math.max(after, through - limit);
  const found: StoredRow[] = [];
  for (let at = from; at < through && at - from - found.length <= MAX_LOST; at += READ_AT_ONCE) {
    const rows = await deps.reading.readStored(READ_MESSAGES, [wsId, at, Math.min(at + READ_AT_ONCE, through)]);
    for (const row of rows) {
      const message = intactMessage(wsId, row);
      if (message) found.push(message);
    }
  }
  const lost = through - from - found.length;
  if (lost <= 0 || (await messageCountOf(deps, wsId)) === undefined) return found;
  const error = new DamagedRow(`${lost} messages of workstream ${wsId} are missing or altered`);
  if (lost > MAX_LOST) throw error;
  deps.onDamage(error);
  return withPlaceholders(found, { from, through });
}

/** Undefined for a workstream that is removed or being removed: its rows are removed in batches, which is no damage. */
async function messageCountOf({ reading }: RowsDeps, wsId: string): Promise<number | undefined> {
  const [row] = await reading.readStored('select message_count, loaded from workstreams where ws_id = $1', [wsId]);
  return row === undefined || Number(row.loaded) === DELETED ? undefined : Number(row.message_count);
}

const lostEvents = (wsId: string, from: number, through: number): DamagedRow =>
  new DamagedRow(`events ${from} to ${through} of workstream ${wsId} are missing or altered`);

/** A character has at most three bytes for each of its UTF-16 units, so this is not less than `MAX_READ_CHARS`. */
const MAX_READ_BYTES = 3 * MAX_READ_CHARS;
const READ_AT_ONCE = 1_000;
const EVENT_COLUMNS = 'ws_id, "offset", body_json, created_ms, checksum';
/** Without the rows after so many bytes; `total` counts them, too. */
const READ_EVENTS = `select ${EVENT_COLUMNS}, total from (
    select ${EVENT_COLUMNS}, count(*) over () as total,
      sum(octet_length(body_json)) over (order by "offset") - octet_length(body_json) as bytes_before
    from (select ${EVENT_COLUMNS} from events
      where ws_id = $1 and "offset" > $2 and "offset" <= $3 order by "offset" limit $4) as page
  ) as sized where bytes_before < $5 order by "offset"`;
const READ_EVENTS_BACK = `select ${EVENT_COLUMNS} from events where ws_id = $1 and "offset" <= $2
  order by "offset" desc limit 200`;
const READ_MESSAGES = `select seq, run_id, body_json, created_ms, checksum from messages
  where ws_id = $1 and seq > $2 and seq <= $3 order by seq`;
