import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PageMessage, PageRequest } from './page-worker.ts';

/**
 * Reads a page in a worker, which the signal ends at any time and which has little memory: some pages are made to keep a
 * reader busy.
 */
export async function* readInWorker(
  workerUrl: URL,
  request: PageRequest & { bytes: Uint8Array<ArrayBuffer> },
  signal: AbortSignal,
): AsyncGenerator<PageMessage> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, {
    workerData: request,
    transferList: [request.bytes.buffer],
    env: {}, // needs none of our environment
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 8 },
  });
  const terminate = () => void worker.terminate();
  signal.addEventListener('abort', terminate, { once: true });
  try {
    for await (const [said] of on(worker, 'message', { close: ['exit'] })) {
      const message: PageMessage = said;
      yield message;
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', terminate);
    await worker.terminate();
  }
}
