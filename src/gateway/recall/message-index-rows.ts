import type { Taint } from '../../../protocol/events/rules.ts';
import { toIndexed } from '../memories/memory-words.ts';
import type { Statement, Store } from '../store/store.ts';

/** The row numbers of a workstream in the index begin here times its number. */
const ROWS = 2 ** 28;

const rowOf = (wsNo: number, seq: number): number => wsNo * ROWS + seq;
export const seqOf = (row: number): number => row % ROWS;

/** A message for the index. */
export interface IndexedMessage {
  seq: number;
  text: string;
  taint: Taint | undefined;
}

/** The part of an index in which a workstream stands. */
export interface IndexPlace {
  wsId: string;
  wsNo: number;
  indexedSeq: number;
  /** What the conversation had read by then that nobody trusts. */
  taint: Taint | undefined;
}

/** So much of a long message is found by its words. */
const MOST_CHARS = 4_096;

/** Adds messages, and moves the place on; refused when the workstream is being deleted, or when another one was first. */
export const insertIndexed = (
  { wsId, wsNo, indexedSeq }: Pick<IndexPlace, 'wsId' | 'wsNo' | 'indexedSeq'>,
  messages: readonly IndexedMessage[],
  next: Pick<IndexPlace, 'indexedSeq' | 'taint'>,
): Statement[] => [
  {
    sql: `update recalled_workstreams set indexed_seq = ?, taint_json = ?
      where ws_no = ? and indexed_seq = ? and exists (select 1 from workstreams where ws_id = ? and loaded <> ${DELETED})`,
    parameters: [next.indexedSeq, next.taint ? JSON.stringify(next.taint) : null, wsNo, indexedSeq, wsId],
    expect: 1,
  },
  ...messages.map(({ seq, text, taint }) => ({
    sql: 'insert into message_words (rowid, text, taint) values (?, ?, ?)',
    parameters: [rowOf(wsNo, seq), toIndexed(text.slice(0, MOST_CHARS)), taint ? JSON.stringify(taint) : ''],
    expect: 1,
  })),
];

/** As in deletion.ts, which uses this file. */
const DELETED = 3;

/** The place of a workstream that is not in the index yet. */
export const insertPlace = (wsId: string): Statement => ({
  sql: `insert into recalled_workstreams (ws_no, ws_id, indexed_seq)
    select (select coalesce(max(ws_no), 0) + 1 from recalled_workstreams), ws_id, 0
    from workstreams where ws_id = ? and loaded <> ${DELETED}`,
  parameters: [wsId],
  expect: 1,
});

/** Removing words from their index takes much longer than removing other rows. */
const MOST_REMOVED = 50;

/** The statements that remove the next batch of a deleted workstream; none when nothing is left. */
export async function deleteRecalled({ db }: Pick<Store, 'db'>, wsId: string): Promise<Statement[]> {
  const place = await db
    .selectFrom('recalled_workstreams')
    .select('ws_no')
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  if (place === undefined) return [];
  const wsNo = Number(place.ws_no);
  const range = [rowOf(wsNo, 0), rowOf(wsNo + 1, 0)];
  const rows = `select rowid from message_words where rowid >= ? and rowid < ?`;
  return [
    { sql: `delete from message_words where rowid in (${rows} limit ${MOST_REMOVED})`, parameters: range },
    {
      sql: `delete from recalled_workstreams where ws_no = ? and not exists (${rows})`,
      parameters: [wsNo, ...range],
    },
  ];
}
