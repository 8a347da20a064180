import { Worker } from 'node:worker_threads';

/** What Argon2id computes a hash from. */
export interface HashJob {
  message: string;
  nonce: Uint8Array;
  /** In KiB. */
  memory: number;
  passes: number;
  parallelism: number;
  tagLength: number;
}

/** The answer of a thread. */
export type HashReply = { hash: Uint8Array } | { error: string };

/** Computes hashes outside the event loop. Call it at most as often at once as there may be threads. */
export type Derive = (job: HashJob) => Promise<Uint8Array>;

/**
 * Threads of `password-worker.ts`; `url` is that file or its bundle. Each computes one hash at a time. A thread is started when
 * all others are busy, and keeps the process alive only while it computes. One that fails is replaced at the next hash.
 */
export function createPasswordThreads(url: URL): Derive {
  const free: Worker[] = [];
  return async (job) => {
    const worker = free.pop() ?? new Worker(url);
    worker.ref();
    try {
      const hash = await ask(worker, job);
      worker.unref();
      free.push(worker);
      return hash;
    } catch (error) {
      void worker.terminate();
      throw error;
    }
  };
}

function ask(worker: Worker, job: HashJob): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const onMessage = (reply: HashReply): void => {
    if ('hash' in reply) resolve(reply.hash);
    else reject(new Error(reply.error));
  };
  const onExit = (code: number): void => reject(new Error(`the thread that hashes passwords ended with code ${code}`));
  worker.once('message', onMessage).once('error', reject).once('exit', onExit);
  worker.postMessage(job);
  return promise.finally(() => {
    worker.off('message', onMessage).off('error', reject).off('exit', onExit);
  });
}
