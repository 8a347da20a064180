import { parentPort, workerData } from 'node:worker_threads';
import { type CheckpointWork, createCheckpointWorker } from './checkpoint-work.ts';

/** What the thread is asked to do. */
export type SnapshotRequestMessage = {
  [K in keyof CheckpointWork]: { id: number; kind: K; request: CheckpointWork[K]['request'] };
}[keyof CheckpointWork];

/** Its answer. */
export type SnapshotReplyMessage = { id: number; reply: unknown } | { id: number; error: Error };

const worker = createCheckpointWorker({ ...workerData, now: Date.now });

parentPort?.on('message', ({ id, kind, request }: SnapshotRequestMessage) => {
  try {
    // The generic seam: the kind and its request belong together.
    const work = worker[kind] as (request: unknown) => unknown;
    parentPort?.postMessage({ id, reply: work(request) } satisfies SnapshotReplyMessage);
  } catch (error) {
    const known = error instanceof Error ? error : new Error(String(error));
    parentPort?.postMessage({ id, error: known } satisfies SnapshotReplyMessage);
  }
});
