import { isUnavailable } from '../../agent/run/record-at-last.ts';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamObserver } from '../workstreams/workstream-deps.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { cancelQueuedRun } from './run-rows.ts';

interface DropDeps {
  data: WorkstreamData;
  queue: RunQueue;
  store: Pick<Store, 'commit'>;
  clock: Pick<Clock, 'now'>;
  observer: Pick<WorkstreamObserver, 'onDropped'>;
}

/**
 * Takes runs that wait out of the queue, and stores that they are cancelled. False while the store cannot be written;
 * then they are no longer in the queue. Returns them to it if the store refuses.
 */
export async function dropQueued(
  items: readonly QueuedRun[],
  { data, queue, store, clock, observer }: DropDeps,
): Promise<boolean> {
  const endedMs = clock.now();
  for (const item of items) queue.remove(item); // first, so that none of them is started meanwhile
  try {
    await store.commit({ statements: items.flatMap(({ run }) => cancelQueuedRun(run, endedMs)) });
  } catch (error) {
    if (isUnavailable(error)) return false;
    for (const item of items) queue.putBack(item);
    throw error;
  }
  for (const { run, ended } of items) {
    observer.onDropped(data, run);
    ended.resolve({ run_id: run.runId, status: 'cancelled', summary: 'cancelled', endedMs });
  }
  return true;
}
