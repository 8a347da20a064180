import { sql } from 'kysely';
import type { z } from 'zod';
import type { SavedWorkstream } from '../../../protocol/methods/conversation/listing.ts';
import type { Models } from '../../agent/providers/model.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import { givenName, readUsage, shareOf, stateAfter } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

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

interface SavedDeps {
  store: Store;
  models: Pick<Models, 'current'>;
  /** The loaded ones, which know their present state. */
  workstreams: Pick<Workstreams, 'find'>;
}

/** Stored conversations that have messages that count, after the last /clear or /new. */
export const createSavedWorkstreams = ({ store, models, workstreams }: SavedDeps): SavedWorkstreams => ({
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
      state: workstreams.find(row.ws_id, viewer)?.data.state ?? stateAfter(row.last_run_status),
      modelAlias: row.model_alias ?? models.current().alias,
      ...shareOf(readUsage(row, store)),
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
