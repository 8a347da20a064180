import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../clock.ts';
import { type CheckpointWork, createCheckpointWorker } from './checkpoint-work.ts';

/** What the thread is asked to do. */
interface Asked<K extends keyof CheckpointWork> {
  id: number;
  kind: K;
  request: CheckpointWork[K]['request'];
}

/** Its answer. What a reply is depends on the kind of the request. */
export type SnapshotAnswer = { id: number; reply: never } | { id: number; error: Error };

const worker = createCheckpointWorker({ ...workerData, now: systemClock.now });

function answer<K extends keyof CheckpointWork>({ id, kind, request }: Asked<K>): void {
  try {
    parentPort?.postMessage({ id, reply: worker[kind](request) });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error : new Error(String(error)) });
  }
}

parentPort?.on('message', answer);
