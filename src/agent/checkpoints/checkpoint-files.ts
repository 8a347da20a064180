import { Worker } from 'node:worker_threads';
import type { CheckpointWork, CheckpointWorker } from './checkpoint-work.ts';
import type { SnapshotAnswer } from './snapshot-worker.ts';

/** Works on the files of workstreams, one thing after another. Rejects with what the work threw. */
export interface CheckpointFiles {
  do<K extends keyof CheckpointWork>(
    kind: K,
    request: CheckpointWork[K]['request'],
  ): Promise<CheckpointWork[K]['reply']>;
}

interface ThreadOptions {
  /** snapshot-worker.ts or its bundle. */
  url: URL;
  folder: string;
  home: string;
}

/**
 * Works in a thread of its own, because reading twenty thousand files would stop everybody else. It starts with the first
 * work, and keeps the process alive only while there is some.
 */
export function createSnapshotThread({ url, folder, home }: ThreadOptions): CheckpointFiles {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let count = 0;
  const fail = (error: Error) => {
    worker = undefined; // the next work starts another one
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
  };
  const start = (): Worker => {
    const thread = new Worker(url, { workerData: { folder, home }, env: {} });
    thread.on('message', (message: SnapshotAnswer) => {
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (waiting.size === 0) thread.unref();
      if ('error' in message) asked?.reject(message.error);
      else asked?.resolve(message.reply);
    });
    thread.on('error', fail);
    thread.on('exit', (code) => fail(new Error(`the thread for snapshots ended with code ${code}`)));
    return thread;
  };
  return {
    do<K extends keyof CheckpointWork>(kind: K, request: CheckpointWork[K]['request']) {
      worker ??= start();
      count += 1;
      const { promise, resolve, reject } = Promise.withResolvers<CheckpointWork[K]['reply']>();
      waiting.set(count, { resolve, reject });
      worker.ref();
      worker.postMessage({ id: count, kind, request });
      return promise;
    },
  };
}

interface Waiting {
  resolve(reply: never): void;
  reject(error: Error): void;
}

/** The same without a thread. */
export const inThisThread = (worker: CheckpointWorker): CheckpointFiles => ({
  async do(kind, request) {
    return worker[kind](request);
  },
});
