import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ToolProblem } from '../tool-problem.ts';
import type { FoundName, NameRequest } from './find-names.ts';
import type { SearchHit, SearchRequest } from './search-files.ts';
import type { SearchMessage, SearchTask } from './search-worker.ts';

/** Runs the built-in search in a worker, which the signal ends even in the middle of an expression. */
export async function* searchWithWorker(
  workerUrl: URL,
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<SearchHit> {
  for await (const message of runWorker(workerUrl, { kind: 'lines', request }, signal)) {
    if (message.kind === 'invalid') throw new ToolProblem(`Invalid regular expression: ${message.message}`);
    if (message.kind === 'hit') yield message.hit;
  }
}

/** Finds files by their names, in no order, many at a time. */
export async function* findWithWorker(
  workerUrl: URL,
  request: NameRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly FoundName[]> {
  for await (const message of runWorker(workerUrl, { kind: 'names', request }, signal)) {
    if (message.kind === 'invalid') throw new ToolProblem(`Invalid pattern: ${message.message}`);
    if (message.kind === 'names') yield message.names;
  }
}

async function* runWorker(workerUrl: URL, task: SearchTask, signal: AbortSignal): AsyncGenerator<SearchMessage> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, {
    workerData: task,
    env: {}, // needs none of our environment
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const terminate = () => void worker.terminate();
  signal.addEventListener('abort', terminate, { once: true });
  try {
    for await (const [message] of on(worker, 'message', { close: ['exit'] })) yield message;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', terminate);
    await worker.terminate();
  }
}
