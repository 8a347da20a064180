import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';

/** When paired nodes were here. */
export interface LastSeen {
  /** When its last connection ended, and while it is here when it came; undefined before the first time. */
  find(nodeId: string): number | undefined;
  /** It has come, or gone. */
  saw(nodeId: string, isConnected: boolean): void;
}

interface LastSeenDeps {
  store: Pick<Store, 'db' | 'commit'>;
  /** When the daemon before this one was alive last. */
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
    // Where its pairing was revoked there is no row any more, and nothing to write.
    const change = build.updateTable('nodes').set(seen).where('node_id', '=', nodeId);
    store
      .commit({ statements: [statementOf(change)] })
      .catch((error: unknown) => log.warn({ err: error, nodeId }, 'when a node was here could not be stored'));
  }

  // These were here when the daemon died: its last sign of life is the last that is known of them.
  const left = rows.filter((row) => row.is_connected === 1);
  for (const { node_id, seen_ms } of left) keep(node_id, Math.max(seen_ms ?? 0, lastAliveMs ?? 0), false);

  return {
    find: (nodeId) => seenMs.get(nodeId) ?? undefined,
    saw: (nodeId, isConnected) => keep(nodeId, clock.now(), isConnected),
  };
}
