import type { EventLog } from '../events/event-log.ts';
import { gaining } from '../sharing/audience.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';

interface ResyncDeps {
  events: Pick<EventLog, 'resync' | 'end' | 'leave'>;
  store: Pick<Store, 'db'>;
}

const AT_ONCE = 500;

/**
 * Goes on with logs that another machine has written, of which it may have told not everything: also not that one was closed,
 * or became private.
 */
export async function resyncLogs(wsIds: readonly string[], { events, store }: ResyncDeps): Promise<void> {
  for (let from = 0; from < wsIds.length; from += AT_ONCE) {
    const some = wsIds.slice(from, from + AT_ONCE);
    const rows = await store.db
      .selectFrom('workstreams')
      .select(['ws_id', 'owner_id', 'visibility'])
      .where('ws_id', 'in', some)
      .where('loaded', 'in', OPEN)
      .execute();
    const open = new Map(rows.map((row) => [row.ws_id, row]));
    for (const wsId of some) {
      const row = open.get(wsId);
      if (row === undefined) events.end(wsId);
      else if (row.visibility !== 'shared')
        events.leave(wsId, gaining({ ownerId: row.owner_id, visibility: row.visibility }, OF_EVERYONE));
    }
    await events.resync(some.filter((wsId) => open.has(wsId)));
  }
}

/** Loaded, or unloaded to make room. */
const OPEN = [1, 2] as const;
