import type { Statement, Store } from '../store/store.ts';

/** The templates that a context began with, before their variables were filled in. */
export interface OpeningPrompt {
  afterSeq: number;
  content: string;
}

/** Stores what the present context of a workstream begins with. Later changes of templates do not change it. */
export const storeOpening = (wsId: string, content: string): Statement => ({
  sql: `INSERT INTO opening_prompts (ws_id, after_seq, content)
        SELECT ws_id, context_after_seq, ? FROM workstreams WHERE ws_id = ?
        ON CONFLICT (ws_id) DO UPDATE SET after_seq = excluded.after_seq, content = excluded.content`,
  parameters: [content, wsId],
  expect: 1,
});

export async function readOpening({ db }: Pick<Store, 'db'>, wsId: string): Promise<OpeningPrompt | undefined> {
  const row = await db.selectFrom('opening_prompts').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  return row && { afterSeq: row.after_seq, content: row.content };
}
