import { isUnavailable } from '../../is-unavailable.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { cancelQueuedRun } from './run-rows.ts';

interface Owner {
  data: WorkstreamData;
  queue: RunQueue;
}

interface Dropping {
  deps: {
    store: Pick<WorkstreamDeps['store'], 'commit'>;
    clock: Pick<WorkstreamDeps['clock'], 'now'>;
    observer: Pick<WorkstreamDeps['observer'], 'onDropped' | 'onFree'>;
    log: Pick<WorkstreamDeps['log'], 'error'>;
  };
  /** Starts what still waits. */
  wake(): void;
  /** False when the daemon stops. */
  pause(): Promise<boolean>;
}

/**
 * Takes runs that wait out of the queue. Resolves when it is stored that they are cancelled, or will be as soon as the
 * store can be written. Returns them to the queue if the store refuses.
 */
export async function dropQueued(
  asked: readonly QueuedRun[],
  { data, queue }: Owner,
  { deps, wake, pause }: Dropping,
): Promise<void> {
  const items = asked.filter(({ isRefused }) => !isRefused);
  if (items.length === 0) return;
  const { store, clock, observer } = deps;
  const endedMs = clock.now();
  for (const item of items) queue.leave(item); // first, so that none of them is started meanwhile
  try {
    await store.commit({ statements: items.flatMap(({ run }) => cancelQueuedRun(run, endedMs)) });
  } catch (error) {
    // Nothing can be dropped together with a run that was not accepted after all.
    if (items.some(({ isRefused }) => isRefused)) return dropQueued(items, { data, queue }, { deps, wake, pause });
    if (isUnavailable(error)) {
      queue.left(...items); // the answer says so
      wake();
      return dropLater(items, { data, queue }, { deps, wake, pause });
    }
    for (const item of items) queue.putBack(item);
    wake();
    throw error;
  }
  queue.left(...items);
  wake(); // the next one may be of no person, so that it is not held
  for (const { run, ended } of items) {
    observer.onDropped(data, run);
    ended.resolve({ run_id: run.runId, status: 'cancelled', summary: 'cancelled', endedMs });
  }
  observer.onFree();
}

function dropLater(items: readonly QueuedRun[], owner: Owner, dropping: Dropping): void {
  const dropped = dropping.pause().then((goesOn) => (goesOn ? dropQueued(items, owner, dropping) : undefined));
  const { log } = dropping.deps;
  dropped.catch((err: unknown) => log.error({ err }, 'cancelled runs could not be dropped; they will still run'));
}
