import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../clock.ts';
import {
  type CheckpointMode,
  type CheckpointReply,
  type CheckpointResult,
  type CheckpointWorker,
  WorkerGone,
} from './checkpointer.ts';

interface ThreadOptions {
  /** `checkpoint-worker.ts` or its bundle. */
  url: URL;
  path: string;
  clock: Pick<Clock, 'sleep'>;
}

/** A thread keeps 9 MB; a new one takes 40 ms of another core. */
const UNUSED_MS = 60_000;

/** Given as a reason, because an exception with its stack would be made for every checkpoint. */
const IN_USE = 'the thread is in use';

/**
 * The thread of `checkpoint-worker.ts`. It is started at the first checkpoint, because it would compete with the start of the
 * daemon for the processor, and ends after a minute without one. It does not keep the process alive.
 */
export function createCheckpointThread({ url, path, clock }: ThreadOptions): CheckpointWorker {
  let worker: Worker | undefined;
  let unused = new AbortController();
  /** The calls without a reply, in the order of their replies. */
  let waiting: PromiseWithResolvers<CheckpointResult>[] = [];
  let dead: WorkerGone | undefined;
  const die = (cause: Error): void => {
    dead ??= new WorkerGone(cause.message, { cause });
    for (const call of waiting) call.reject(dead);
    waiting = [];
  };
  const start = (): Worker => {
    const thread = new Worker(url, { workerData: path });
    thread.unref();
    thread.on('message', (reply: CheckpointReply) => {
      const call = waiting.shift();
      if ('error' in reply) call?.reject(new Error(reply.error));
      else call?.resolve(reply);
      clock.sleep(UNUSED_MS, unused.signal).then(rest, () => undefined); // it was used, or closed
    });
    thread.on('error', die);
    thread.on('exit', (code) => {
      if (thread === worker) die(new Error(`the checkpoint worker ended with code ${code}`));
    });
    return thread;
  };
  const rest = (): void => {
    if (waiting.length > 0) return;
    worker?.postMessage('close');
    worker = undefined;
  };
  const use = (): void => {
    unused.abort(IN_USE);
    unused = new AbortController();
  };
  return {
    checkpoint(mode: CheckpointMode) {
      if (dead) return Promise.reject(dead);
      use();
      const call = Promise.withResolvers<CheckpointResult>();
      waiting.push(call);
      worker ??= start();
      worker.postMessage(mode);
      return call.promise;
    },
    async close() {
      use();
      if (dead || !worker) return;
      worker.ref();
      const ended = once(worker, 'exit');
      worker.postMessage('close');
      await ended;
    },
  };
}
