import { type RawBuilder, sql } from 'kysely';
import type { Messages } from '../history/messages.ts';
import { givenName } from '../listing/given-name.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import { seqOf } from './message-index-rows.ts';

/** A message of the index that people still see. */
export interface RankedMessage {
  wsId: string;
  /** That a person gave; null: none. */
  givenName: string | null;
  generatedName: string;
  title: string | null;
  seq: number;
  createdMs: number;
  role: 'user' | 'assistant';
  text: string;
  /** As the index stores it; empty: none. */
  taint: string;
}

interface Search {
  /** A condition for the table `workstreams`. */
  which: RawBuilder<boolean>;
  /** As `toWordQuery` makes it. */
  match: string;
  limit: number;
}

/** Found messages may have been taken back since; so many more are looked at. */
const SPARE = 3;

/** The messages with the words, the best first. */
export async function findRanked(
  { store, messages }: { store: Pick<Store, 'db' | 'words'>; messages: Messages },
  search: Search,
): Promise<RankedMessage[]> {
  const shown: RankedMessage[] = [];
  for (const hit of await rank(store, search)) {
    if (shown.length === search.limit) break;
    const message = await read(messages, hit);
    if (message) shown.push(message);
  }
  return shown;
}

interface Hit {
  row: number;
  ws_id: string;
  alias: string | null;
  session_key: string | null;
  generated_name: string;
  title: string | null;
  taint: string;
}

const INDEX = { table: 'message_words', as: 'w' } as const;

async function rank({ db, words }: Pick<Store, 'db' | 'words'>, { which, match, limit }: Search): Promise<Hit[]> {
  const { rows } = await sql<Hit>`
    select w.rowid as "row", w.taint, workstreams.ws_id, workstreams.title,
      workstreams.alias, workstreams.session_key, workstreams.generated_name
    from message_words as w
    cross join recalled_workstreams as r
    cross join workstreams
    where r.ws_no = (w.rowid >> 28) and workstreams.ws_id = r.ws_id
      and ${words.matches(INDEX, match)} and workstreams.loaded <> ${DELETED} and ${which}
    order by ${words.rank(INDEX, match)}, w.rowid desc limit ${limit * SPARE}`.execute(db);
  return rows;
}

/** Undefined if people no longer see it. */
async function read(messages: Messages, hit: Hit): Promise<RankedMessage | undefined> {
  const { ws_id: wsId, title, taint } = hit;
  const seq = seqOf(Number(hit.row));
  const [stored] = await messages.page(wsId, { after: seq - 1, upTo: seq, limit: 1 });
  if (!stored || stored.isDamaged || stored.seq !== seq) return undefined;
  const { message, createdMs } = stored;
  if (message.role === 'tool' || message.content === '') return undefined;
  return {
    wsId,
    givenName: hit.alias ?? givenName(hit),
    generatedName: hit.generated_name,
    title,
    seq,
    createdMs,
    role: message.role,
    text: message.content,
    taint,
  };
}
