import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';

/** When paired nodes were connected. */
export interface LastSeen {
  /** When its last connection ended, or when the current one began; undefined if it never connected. */
  find(nodeId: string): number | undefined;
  /** Records that it connected or disconnected. */
  saw(nodeId: string, isConnected: boolean): void;
}

interface LastSeenDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  /** When the previous daemon was last known to be alive. */
  lastAliveMs: number | undefined;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

export async function openLastSeen({ store, lastAliveMs, clock, log }: LastSeenDeps): Promise<LastSeen> {
  const rows = await store.db.selectFrom('nodes').select(['node_id', 'seen_ms', 'is_connected']).execute();
  const seenMs = new Map(rows.map((row) => [row.node_id, row.seen_ms]));

  function keep(nodeId: string, atMs: number, isConnected: boolean): void {
    seenMs.set(nodeId, atMs);
    const seen = { seen_ms: atMs, is_connected: Number(isConnected) };
    // A revoked pairing has no row to update.
    const change = build.updateTable('nodes').set(seen).where('node_id', '=', nodeId);
    store
      .commit({ statements: [statementOf(change)] })
      .catch((error: unknown) => log.warn({ err: error, nodeId }, 'the last connection of a node could not be stored'));
  }

  // These were connected when the daemon died; its last sign of life is the last time they were seen. While a worker starts,
  // they may be connected to the active daemon.
  const left = store.machine === null ? rows.filter((row) => row.is_connected === 1) : [];
  for (const { node_id, seen_ms } of left) keep(node_id, Math.max(seen_ms ?? 0, lastAliveMs ?? 0), false);

  return {
    find: (nodeId) => seenMs.get(nodeId) ?? undefined,
    saw: (nodeId, isConnected) => keep(nodeId, clock.now(), isConnected),
  };
}
