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
 * The thread of `checkpoint-worker.ts`; `url` is that file or its bundle. It is started at the first checkpoint, because
 * it would compete with the start of the daemon for the processor. It does not keep the process alive.
 */
export function createCheckpointThread({ url, path }: { url: URL; path: string }): CheckpointWorker {
  let worker: Worker | undefined;
  let waiting: PromiseWithResolvers<CheckpointResult> | undefined;
  let dead: WorkerGone | undefined;
  const die = (cause: Error): void => {
    dead ??= new WorkerGone(cause.message, { cause });
    waiting?.reject(dead);
    waiting = undefined;
  };
  const start = (): Worker => {
    const thread = new Worker(url, { workerData: path });
    thread.unref();
    thread.on('message', (reply: CheckpointReply) => {
      if ('error' in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply);
      waiting = undefined;
    });
    thread.on('error', die);
    thread.on('exit', (code) => die(new Error(`the checkpoint worker ended with code ${code}`)));
    return thread;
  };
  return {
    checkpoint(mode: CheckpointMode) {
      if (dead) return Promise.reject(dead);
      waiting = Promise.withResolvers();
      worker ??= start();
      worker.postMessage(mode);
      return waiting.promise;
    },
    async close() {
      if (dead || !worker) return;
      worker.ref();
      const ended = once(worker, 'exit');
      worker.postMessage('close');
      await ended;
    },
  };
}
