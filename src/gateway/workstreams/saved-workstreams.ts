import type { z } from 'zod';
import type { SavedWorkstream } from '../../../protocol/methods/workstream.ts';
import type { Store } from '../store/store.ts';

export interface SavedWorkstreams {
  /** Most recently updated first; `before` (updatedMs) continues a list. */
  list(page: { limit?: number | undefined; before?: number | undefined }): Promise<z.infer<typeof SavedWorkstream>[]>;
}

const LIMIT = 50;

/** Stored conversations with something to come back to: messages after the last /clear or /new. */
export const createSavedWorkstreams = (store: Store): SavedWorkstreams => ({
  async list({ limit = LIMIT, before }) {
    let query = store.db.selectFrom('workstreams').selectAll().whereRef('message_count', '>', 'context_after_seq');
    if (before !== undefined) query = query.where('updated_ms', '<', before);
    const rows = await query.orderBy('updated_ms', 'desc').limit(limit).execute();
    return rows.map((row) => ({
      wsId: row.ws_id,
      alias: row.alias,
      name: row.alias ?? row.generated_name,
      title: row.title,
      createdMs: row.created_ms,
      updatedMs: row.updated_ms,
      messageCount: row.message_count - row.context_after_seq,
      loaded: row.loaded === 1,
    }));
  },
});
