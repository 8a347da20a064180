import type { EventRow } from '../checked-rows.ts';
import { eventChecksum } from '../row-checksum.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import type { Statement } from '../store.ts';
import { joinBodies, type KnownMessages, MAX_BLOCK_EVENTS, MAX_KNOWN, splitBodies, toBlock } from './block.ts';
import { deleteRows } from './compact-log.ts';
import { countEvents } from './packed-body.ts';

export type BlockStore = Pick<SqliteStore, 'commit' | 'readEventRows' | 'readMessages'>;

/** Limits one step and the read of a block; after `full` characters, a block ends with a run. */
const LIMITS = { rows: 512, full: 12_288, chars: 32_768 };
/** Of messages; with the body, they fit into the window of the compression. */
const MAX_KNOWN_CHARS = 16_384;

/**
 * Compresses the next rows of a log, up to `through`, into one block, in one unit. Returns the offset to continue after;
 * `through` when nothing is left. A block that is not full is extended by the next run. Rejects with UnitRefused when the
 * rows changed meanwhile.
 */
export async function blockStep(
  store: BlockStore,
  { wsId, after, through }: { wsId: string; after: number; through: number },
): Promise<number> {
  const read = await store.readEventRows(wsId, after, LIMITS.rows);
  const { rows, isFull } = firstRows(read.filter(({ offset }) => offset <= through));
  const last = rows.at(-1);
  if (!last) return through;
  const statements = [...(await compressed(store, { wsId, rows, last })), ...(isFull ? [mark(wsId, last.offset)] : [])];
  if (statements.length > 0) await store.commit({ statements });
  return isFull ? last.offset : through;
}

/** The rows of a block, and whether it gets no more. A row that is too long stays alone. */
function firstRows(all: readonly EventRow[]): { rows: EventRow[]; isFull: boolean } {
  const rows: EventRow[] = [];
  let [chars, events] = [0, 0];
  for (const row of all) {
    const count = countEvents(row.body);
    chars += row.body.length;
    events += count;
    const before = rows.at(-1);
    const isNext = before === undefined || before.offset === row.offset - count;
    const fits = before === undefined || (chars <= LIMITS.chars && events <= MAX_BLOCK_EVENTS);
    const isAfterFull = before !== undefined && chars - row.body.length >= LIMITS.full && isTurn(row.body);
    if (!isNext || !fits || isAfterFull) return { rows, isFull: true };
    rows.push(row);
  }
  return { rows, isFull: rows.length === LIMITS.rows || chars > LIMITS.chars };
}

interface Block {
  wsId: string;
  rows: readonly EventRow[];
  last: EventRow;
}

/** Replaces the rows by a block; nothing if that would not be shorter. */
async function compressed(store: BlockStore, { wsId, rows, last }: Block): Promise<Statement[]> {
  const first = rows[0];
  const bodies = rows.flatMap(({ body }) => splitBodies(body));
  const body = joinBodies(bodies);
  if (!first || (first === last && last.blockBytes !== undefined) || body.length > LIMITS.chars) return [];
  const { known, texts } = await messagesOf(store, { wsId, bodies });
  const block = toBlock(body, known, texts);
  if (block.length >= rows.reduce((sum, row) => sum + (row.blockBytes ?? row.body.length), 0)) return [];
  const { offset, createdMs: created_ms } = last;
  const columns = { ws_id: wsId, offset, created_ms };
  const own = build
    .updateTable('events')
    .set({ body_json: block, checksum: eventChecksum({ ...columns, body_json: body }) })
    .where('ws_id', '=', wsId)
    .where('offset', '=', offset)
    .where('checksum', '=', eventChecksum({ ...columns, body_json: last.body }));
  return [deleteRows(wsId, rows.slice(0, -1)), statementOf(own, 1)];
}

/** The messages of the runs that begin in a block: its events repeat their texts. */
async function messagesOf(
  store: BlockStore,
  { wsId, bodies }: { wsId: string; bodies: readonly string[] },
): Promise<{ known: KnownMessages; texts: string[] }> {
  const turns: { run_id: string; seq?: number }[] = bodies.filter(isTurn).map((body) => JSON.parse(body));
  const runs = new Set<string | null>(turns.map(({ run_id }) => run_id));
  const after = (turns[0]?.seq ?? 0) - 1;
  const texts: string[] = [];
  if (after < 0) return { known: { after: 0, upTo: 0 }, texts }; // of an earlier version
  let chars = 0;
  for (const { runId, json } of await store.readMessages(wsId, { after, upTo: after + MAX_KNOWN, limit: MAX_KNOWN })) {
    chars += json?.length ?? 0;
    if (json === undefined || !runs.has(runId) || chars > MAX_KNOWN_CHARS) break;
    texts.push(json);
  }
  return { known: { after, upTo: after + texts.length }, texts };
}

const isTurn = (body: string): boolean => body.startsWith('{"type":"user_turn"');

const mark = (wsId: string, blocked: number): Statement => ({
  sql: 'update log_heads set blocked = max(blocked, ?) where ws_id = ?',
  parameters: [blocked, wsId],
});
