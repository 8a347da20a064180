import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type CheckpointMode,
  type CheckpointReply,
  type CheckpointResult,
  type CheckpointWorker,
  WorkerGone,
} from './checkpointer.ts';

/**
 * Starts the thread of `checkpoint-worker.ts`; `url` is that file or its bundle. The thread does not keep the process
 * alive.
 */
export function startCheckpointThread({ url, path }: { url: URL; path: string }): CheckpointWorker {
  const worker = new Worker(url, { workerData: path });
  worker.unref();
  let waiting: PromiseWithResolvers<CheckpointResult> | undefined;
  let dead: WorkerGone | undefined;
  const die = (cause: Error): void => {
    dead ??= new WorkerGone(cause.message, { cause });
    waiting?.reject(dead);
    waiting = undefined;
  };
  worker.on('message', (reply: CheckpointReply) => {
    if ('error' in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply);
    waiting = undefined;
  });
  worker.on('error', die);
  worker.on('exit', (code) => die(new Error(`the checkpoint worker ended with code ${code}`)));
  return {
    checkpoint(mode: CheckpointMode) {
      if (dead) return Promise.reject(dead);
      waiting = Promise.withResolvers();
      worker.postMessage(mode);
      return waiting.promise;
    },
    async close() {
      if (dead) return;
      worker.ref();
      const ended = once(worker, 'exit');
      worker.postMessage('close');
      await ended;
    },
  };
}
