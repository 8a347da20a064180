import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import { Taint } from '../../../protocol/events/rules.ts';
import type { HistorySource, RecalledMessage } from '../../agent/memory/history-source.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { createMessages, type Messages } from '../history/messages.ts';
import { MOST_WORDS, toWordQuery } from '../memories/memory-words.ts';
import { type Owned, perceivedBy, sightInCommon } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import { catchUp } from './message-index.ts';
import { seqOf } from './message-index-rows.ts';

/** Found messages may have been taken back since; so many more are looked at. */
const SPARE = 3;

/** Searches conversations of the owner of a workstream, as far as all who see the workstream may read them. */
export function createMessageRecall({ store }: { store: Store }): HistorySource {
  const messages = createMessages(store);
  const serial = createSerialKeys();
  return {
    async search(wsId, query, { limit, signal }) {
      const words = toWordQuery(query);
      if (words.kind === 'too many words')
        throw new GatewayError('INVALID_REQUEST', `query has more than ${MOST_WORDS} different words`);
      if (words.kind === 'nothing') throw new GatewayError('INVALID_REQUEST', 'query has no word that can be searched');
      const owned = await ownedBy(store, wsId);
      const isComplete = await serial.run('index', () => catchUp(store, owned.ownerId, signal));
      const found = await rank(store, { owned, match: words.match, limit: limit * SPARE });
      const shown: RecalledMessage[] = [];
      for (const hit of found) {
        if (shown.length === limit) break;
        const message = await read(messages, hit);
        if (message) shown.push(message);
      }
      return { messages: shown, isIncomplete: !isComplete };
    },
  };
}

interface Hit {
  row: number;
  ws_id: string;
  title: string | null;
  taint: string;
}

async function rank(
  { db }: Pick<Store, 'db'>,
  { owned, match, limit }: { owned: Owned; match: string; limit: number },
): Promise<Hit[]> {
  const { rows } = await sql<Hit>`
    select w.rowid as "row", w.taint, workstreams.ws_id, workstreams.title
    from message_words as w
    cross join recalled_workstreams as r on r.ws_no = w.rowid >> 28
    cross join workstreams on workstreams.ws_id = r.ws_id
    where w.message_words match ${match} and workstreams.owner_id = ${owned.ownerId}
      and workstreams.loaded <> ${DELETED} and ${perceivedBy(sightInCommon(owned))}
    order by bm25(message_words), w.rowid desc limit ${limit}`.execute(db);
  return rows;
}

/** Undefined if people no longer see it. */
async function read(messages: Messages, { row, ws_id: wsId, title, taint }: Hit): Promise<RecalledMessage | undefined> {
  const seq = seqOf(Number(row));
  const [stored] = await messages.page(wsId, { after: seq - 1, upTo: seq, limit: 1 });
  if (!stored || stored.isDamaged || stored.seq !== seq) return undefined;
  const { message, createdMs } = stored;
  if (message.role === 'tool' || message.content === '') return undefined;
  return {
    wsId,
    ...(title !== null && { title }),
    seq,
    createdMs,
    role: message.role,
    text: message.content,
    ...(taint !== '' && { taint: Taint.parse(JSON.parse(taint)) }),
  };
}

async function ownedBy({ db }: Pick<Store, 'db'>, wsId: string): Promise<Owned> {
  const row = await db
    .selectFrom('workstreams')
    .select(['owner_id', 'visibility'])
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  if (!row) throw new GatewayError('NOT_FOUND', 'Unknown workstream');
  return { ownerId: row.owner_id, visibility: row.visibility };
}
