import { sql } from 'kysely';
import type { z } from 'zod';
import type { SavedWorkstream } from '../../../protocol/methods/workstream.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import { givenName } from './workstream-data.ts';

interface SavedPage {
  limit?: number | undefined;
  /** Where the previous page ended: its last `updatedMs`, and for equal times its last `wsId`. */
  before?: number | undefined;
  beforeWsId?: string | undefined;
  /** Words that must all occur in the name or the title. */
  search?: string | undefined;
}

export interface SavedWorkstreams {
  /** Most recently updated first; for equal times, by id. */
  list(page: SavedPage, viewer: Viewer): Promise<z.infer<typeof SavedWorkstream>[]>;
}

const LIMIT = 50;

/** Stored conversations that have messages that count, after the last /clear or /new. */
export const createSavedWorkstreams = (store: Store): SavedWorkstreams => ({
  async list({ limit = LIMIT, before, beforeWsId = '', search = '' }, viewer) {
    let query = store.db
      .selectFrom('workstreams')
      .selectAll()
      .where(sql<boolean>`message_count - cut_count > context_after_seq`)
      .where('loaded', '!=', DELETED)
      .where(perceivedBy(viewer));
    if (before !== undefined) {
      query = query
        .where('updated_ms', '<=', before) // the part that the index covers
        .where((where) => where.or([where('updated_ms', '<', before), where('ws_id', '<', beforeWsId)]));
    }
    for (const word of search.split(/\s+/).filter((part) => part !== '')) query = query.where(mentions(word));
    const rows = await query.orderBy('updated_ms', 'desc').orderBy('ws_id', 'desc').limit(limit).execute();
    return rows.map((row) => ({
      wsId: row.ws_id,
      alias: row.alias ?? givenName(row),
      name: row.alias ?? row.generated_name,
      title: row.title,
      createdMs: row.created_ms,
      updatedMs: row.updated_ms,
      messageCount: row.message_count - row.context_after_seq - row.cut_count,
      loaded: row.loaded === 1,
      userId: row.owner_id,
      visibility: row.visibility,
    }));
  },
});

/** Whether the name or title contains the word, ignoring case. */
function mentions(word: string) {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`coalesce(alias, generated_name) || ' ' || coalesce(title, '') like ${pattern} escape '\\'`;
}
