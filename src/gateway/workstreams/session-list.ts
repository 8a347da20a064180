import type { Log } from '../../log.ts';
import { ANYONE, perceivedBy, type Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { createWorkstreamData, type WorkstreamData, type WorkstreamDataDeps } from './workstream-data.ts';
import type { Workstreams } from './workstreams.ts';

interface SessionListDeps extends WorkstreamDataDeps {
  workstreams: Pick<Workstreams, 'list'>;
  store: Pick<Store, 'db' | 'reportDamage'>;
  log: Pick<Log, 'warn'>;
}

interface Wanted {
  viewer: Viewer;
  sinceMs: number;
  limit: number;
}

/** The sessions: open ones, and those unloaded to make room. Closed ones are saved conversations. */
export interface SessionList {
  /** Most recently updated first. */
  newest(wanted: Wanted): Promise<WorkstreamData[]>;
  count(viewer: Viewer): Promise<number>;
  /** Like both for what everyone perceives, without asking the store: unloaded sessions are known from the last `refresh`. */
  known(limit: number): { count: number; newest: WorkstreamData[] };
  /** Call this after a session was loaded, unloaded or removed. */
  refresh(): void;
}

const UNLOADED = 2;
/** How many unloaded sessions are remembered, in case few are open. */
const REMEMBERED = 10;

export function createSessionList(deps: SessionListDeps): SessionList {
  const { workstreams, store, log } = deps;
  const open = (viewer: Viewer) => workstreams.list(viewer).map(({ data }) => data);
  const unloaded = store.db.selectFrom('workstreams').where('loaded', '=', UNLOADED);
  let remembered: { count: number; newest: WorkstreamData[] } = { count: 0, newest: [] };

  async function newestUnloaded({ viewer, sinceMs, limit }: Wanted): Promise<WorkstreamData[]> {
    const isRecent = unloaded.where('updated_ms', '>=', sinceMs).where(perceivedBy(viewer));
    const rows = await isRecent.selectAll().orderBy('updated_ms', 'desc').limit(limit).execute();
    return rows.map((row) => createWorkstreamData(row, deps));
  }

  async function countUnloaded(viewer: Viewer): Promise<number> {
    const perceived = unloaded.where(perceivedBy(viewer));
    const counted = await perceived.select((row) => row.fn.countAll<number>().as('n')).executeTakeFirst();
    return counted?.n ?? 0;
  }

  async function readUnloaded(): Promise<void> {
    const [count, newest] = await Promise.all([
      countUnloaded(ANYONE),
      newestUnloaded({ viewer: ANYONE, sinceMs: 0, limit: REMEMBERED }),
    ]);
    remembered = { count, newest };
  }

  return {
    async newest({ viewer, sinceMs, limit }) {
      const before = open(viewer); // read before the store, so that a session that moves meanwhile is in at least one
      const stored = await newestUnloaded({ viewer, sinceMs, limit });
      const isRecent = ({ updatedMs }: WorkstreamData) => updatedMs >= sinceMs;
      return sorted(stored, before.filter(isRecent)).slice(0, limit);
    },
    count: async (viewer) => (await countUnloaded(viewer)) + open(viewer).length,
    known: (limit) => ({
      count: remembered.count + open(ANYONE).length,
      newest: sorted(remembered.newest, open(ANYONE)).slice(0, limit),
    }),
    refresh() {
      readUnloaded().catch((err: unknown) => log.warn({ err }, 'the unloaded sessions could not be read'));
    },
  };
}

/** Most recently updated first. For sessions in both lists, the second one wins. */
function sorted(stored: readonly WorkstreamData[], open: readonly WorkstreamData[]): WorkstreamData[] {
  const byId = new Map([...stored, ...open].map((data) => [data.wsId, data]));
  return [...byId.values()].sort((a, b) => b.updatedMs - a.updatedMs);
}
