import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { Taint } from '../../../protocol/events/rules.ts';
import { isFromPerson, type Message } from '../../agent/message.ts';
import { taintAfter } from '../../agent/run/approval/taint.ts';
import { DELETED } from '../store/deletion.ts';
import { type Store, tookEffect } from '../store/store.ts';
import { type IndexedMessage, type IndexPlace, insertIndexed, insertPlace } from './message-index-rows.ts';

/** Messages per transaction: a few milliseconds. */
const BATCH = 200;
/** What one search adds at most. */
const MOST_ADDED = 20_000;

type IndexStore = Pick<Store, 'db' | 'commit' | 'readMessages'>;

/**
 * Adds what is missing of some conversations to the index of words, the latest conversations first. It is done when
 * somebody searches, so that recording a message costs nothing. Returns whether everything is in it.
 */
export async function catchUp(store: IndexStore, which: RawBuilder<boolean>, signal: AbortSignal): Promise<boolean> {
  let left = MOST_ADDED;
  for (const { wsId, upTo } of await findBehind(store, which)) {
    for (let place = await placeOf(store, wsId); place && place.indexedSeq < upTo; ) {
      if (left <= 0) return false;
      signal.throwIfAborted();
      const next = await addBatch(store, place, Math.min(upTo, place.indexedSeq + Math.min(BATCH, left)));
      if (!next) break; // it is being deleted
      left -= next.indexedSeq - place.indexedSeq;
      place = next;
      await nextTurn();
    }
  }
  return true;
}

/** `which` is a condition for the table `workstreams`. */
async function findBehind({ db }: IndexStore, which: RawBuilder<boolean>): Promise<{ wsId: string; upTo: number }[]> {
  const { rows } = await sql<{ ws_id: string; message_count: number }>`
    select workstreams.ws_id, workstreams.message_count
    from workstreams left join recalled_workstreams as r on r.ws_id = workstreams.ws_id
    where ${which} and workstreams.loaded <> ${DELETED} and workstreams.message_count > coalesce(r.indexed_seq, 0)
    order by workstreams.updated_ms desc`.execute(db);
  return rows.map(({ ws_id, message_count }) => ({ wsId: ws_id, upTo: Number(message_count) }));
}

async function placeOf(store: IndexStore, wsId: string): Promise<IndexPlace | undefined> {
  const found = await readPlace(store, wsId);
  if (found) return found;
  await tookEffect(store.commit({ statements: [insertPlace(wsId)] }));
  return readPlace(store, wsId);
}

async function readPlace({ db }: IndexStore, wsId: string): Promise<IndexPlace | undefined> {
  const row = await db.selectFrom('recalled_workstreams').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  if (!row) return undefined;
  const taint = row.taint_json === null ? undefined : Taint.parse(JSON.parse(row.taint_json));
  return { wsId, wsNo: Number(row.ws_no), indexedSeq: Number(row.indexed_seq), taint };
}

async function addBatch(store: IndexStore, place: IndexPlace, upTo: number): Promise<IndexPlace | undefined> {
  const rows = await store.readMessages(place.wsId, { after: place.indexedSeq, upTo, limit: upTo - place.indexedSeq });
  const messages: IndexedMessage[] = [];
  let { taint } = place;
  for (const { seq, json } of rows) {
    if (json === undefined) continue; // damaged
    const message: Message = JSON.parse(json);
    taint = taintAfter(taint, message);
    const text = indexedText(message);
    if (text !== '') messages.push({ seq, text, taint: message.role === 'user' ? ownTaint(message) : taint });
  }
  const next = { indexedSeq: upTo, taint };
  const statements = insertIndexed(place, messages, next);
  return (await tookEffect(store.commit({ statements }))) ? { ...place, ...next } : undefined;
}

const ownTaint = (message: Message) => taintAfter(undefined, message);

/** What people and the model said to each other: no outputs of calls, and no messages of the daemon. */
const indexedText = (message: Message): string =>
  message.role === 'assistant' || isFromPerson(message) ? message.content : '';
