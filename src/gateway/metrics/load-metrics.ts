import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Store } from '../store/store.ts';

/** How busy the daemon is (decision 64). The lag of the event loop is among the standard metrics of the process. */
export interface Load {
  /** What waits in each queue now. */
  queues: Record<QueueName, () => number>;
  /** Calls back after each group that was written to the disk. */
  onWritten(listener: (seconds: number) => void): void;
  /** How many watches this daemon polls. */
  activeWatches(): Promise<number>;
}

type QueueName = 'messages' | 'passwords' | 'store';

interface LoadedParts {
  workstreams: { list(): { queue: { readonly length: number } }[] };
  store: Pick<Store, 'db' | 'waiting' | 'onWritten'>;
  server: { nodeId: string };
  passwords: { waiting(): number };
}

export const loadOf = ({ workstreams, store, server, passwords }: LoadedParts): Load => ({
  queues: {
    messages: () => workstreams.list().reduce((sum, { queue }) => sum + queue.length, 0),
    passwords: passwords.waiting,
    store: store.waiting,
  },
  onWritten: store.onWritten,
  async activeWatches() {
    const found = await store.db
      .selectFrom('watches')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('active', '=', 1)
      .where('node_id', '=', server.nodeId)
      .executeTakeFirst();
    return found?.count ?? 0;
  },
});

/** A write on a healthy disk takes less than a millisecond; the event loop stands still meanwhile. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export function observeLoad(registry: Registry, { queues, onWritten, activeWatches }: Load): void {
  const registers = [registry];
  const commits = new Histogram({
    name: 'service_store_commit_seconds',
    help: 'Time to write one group of changes to the disk',
    buckets: BUCKETS,
    registers,
  });
  onWritten((seconds) => commits.observe(seconds));
  new Gauge({
    name: 'service_queue_length',
    help: 'What waits in the queues of the daemon',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, length] of Object.entries(queues)) this.set({ queue }, length());
    },
  });
  new Gauge({
    name: 'service_watches_active',
    help: 'Watches that this daemon polls',
    registers,
    async collect() {
      this.set(await activeWatches());
    },
  });
}
