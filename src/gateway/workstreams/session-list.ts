import type { Models } from '../../agent/providers/model.ts';
import type { Store } from '../store/store.ts';
import { createWorkstreamData, type WorkstreamData } from './workstream-data.ts';
import type { Workstreams } from './workstreams.ts';

interface SessionListDeps {
  workstreams: Pick<Workstreams, 'list'>;
  models: Pick<Models, 'current' | 'list'>;
  store: Pick<Store, 'db'>;
}

/** The sessions: what is open, and what was unloaded to make room. What was closed is a saved conversation. */
export interface SessionList {
  /** Most recently updated first. */
  newest(wanted: { sinceMs: number; limit: number }): Promise<WorkstreamData[]>;
  count(): Promise<number>;
}

const UNLOADED = 2;

export function createSessionList({ workstreams, models, store }: SessionListDeps): SessionList {
  const open = () => workstreams.list().map(({ data }) => data);
  const unloaded = store.db.selectFrom('workstreams').where('loaded', '=', UNLOADED);
  return {
    async newest({ sinceMs, limit }) {
      const isRecent = unloaded.where('updated_ms', '>=', sinceMs);
      const before = open(); // of what moves meanwhile, one of the two has it
      const rows = await isRecent.selectAll().orderBy('updated_ms', 'desc').limit(limit).execute();
      const stored = rows.map((row) => createWorkstreamData(row, models));
      const byId = new Map([...stored, ...before].map((data) => [data.wsId, data]));
      return [...byId.values()]
        .filter(({ updatedMs }) => updatedMs >= sinceMs)
        .sort((a, b) => b.updatedMs - a.updatedMs)
        .slice(0, limit);
    },
    async count() {
      const counted = await unloaded.select((row) => row.fn.countAll<number>().as('n')).executeTakeFirst();
      return open().length + (counted?.n ?? 0);
    },
  };
}
