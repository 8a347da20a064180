import { GatewayError } from '../../../protocol/errors.ts';
import type { watchContracts } from '../../../protocol/methods/conversation/watch.ts';
import type { Handlers } from '../call.ts';
import { perceivedBy, type Viewer, viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { WatchRecords } from './watch-records.ts';
import { readWatch, toWatch } from './watch-rows.ts';

interface WatchMethodDeps {
  store: Store;
  records: Pick<WatchRecords, 'end'>;
  workstreams: Pick<Workstreams, 'isStored'>;
  nodeId: string;
}

const STANDARD_ALL = 100;
const MOST = 500;

export const watchMethods = ({
  store,
  records,
  workstreams,
  nodeId,
}: WatchMethodDeps): Handlers<keyof typeof watchContracts> => ({
  async 'watch.list'({ wsId, ended = false, here = false }, call) {
    const rows = rowsFor(store, viewerOf(call), { wsId, limit: MOST });
    const open = ended ? rows : rows.where('watches.active', '=', 1);
    const found = here ? open.where('watches.node_id', '=', nodeId) : open;
    return { watches: (await found.execute()).map(toWatch) };
  },
  async 'watch.cancel'({ watchId, here = false }, call) {
    const found = await readWatch(store, watchId);
    if (!found || !(await workstreams.isStored(found.row.ws_id, viewerOf(call))))
      throw new GatewayError('NOT_FOUND', 'Watch not found');
    if (here && found.row.node_id !== nodeId) throw new GatewayError('FORBIDDEN', 'Watch belongs to another node');
    const ended = await records.end(watchId, { end: 'cancelled' });
    const watch = ended ?? toWatch((await readWatch(store, watchId))?.row ?? found.row);
    return { cancelled: ended !== undefined, watch };
  },
  async 'watch.admin.list'({ wsId, limit = STANDARD_ALL }, call) {
    return { watches: (await rowsFor(store, viewerOf(call), { wsId, limit }).execute()).map(toWatch) };
  },
});

/** Of the workstreams that the viewer perceives, the newest first. */
function rowsFor(
  { db }: Pick<Store, 'db'>,
  viewer: Viewer,
  { wsId, limit }: { wsId: string | undefined; limit: number },
) {
  const all = db
    .selectFrom('watches')
    .innerJoin('workstreams', 'workstreams.ws_id', 'watches.ws_id')
    .selectAll('watches')
    .where(perceivedBy(viewer))
    .orderBy('watches.created_ms', 'desc')
    .orderBy('watches.watch_id', 'desc')
    .limit(limit);
  return wsId === undefined ? all : all.where('watches.ws_id', '=', wsId);
}
