import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ToolProblem } from '../tool-problem.ts';
import type { SearchHit, SearchRequest } from './search-files.ts';
import type { SearchMessage } from './search-worker.ts';

/** Runs the built-in search in a worker, which the signal ends even in the middle of an expression. */
export async function* searchWithWorker(
  workerUrl: URL,
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<SearchHit> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, {
    workerData: request,
    env: {}, // needs none of our environment
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const terminate = () => void worker.terminate();
  signal.addEventListener('abort', terminate, { once: true });
  try {
    for await (const [said] of on(worker, 'message', { close: ['exit'] })) {
      const message: SearchMessage = said;
      if (message.kind === 'invalid') throw new ToolProblem(`Invalid regular expression: ${message.message}`);
      yield message.hit;
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', terminate);
    await worker.terminate();
  }
}
