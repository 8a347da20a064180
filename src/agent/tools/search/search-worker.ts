import { parentPort, workerData } from 'node:worker_threads';
import { findMatches, type SearchHit, type SearchRequest } from './search-files.ts';

/** Messages of the worker; its exit marks the end. */
export type SearchMessage = { kind: 'hit'; hit: SearchHit } | { kind: 'invalid'; message: string };

const MAX_HITS = 2_000;

function search(request: SearchRequest, say: (message: SearchMessage) => void): void {
  let count = 0;
  try {
    for (const hit of findMatches(request)) {
      say({ kind: 'hit', hit });
      count += 1;
      if (count === MAX_HITS) return;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    say({ kind: 'invalid', message: error.message });
  }
}

search(workerData, (message) => parentPort?.postMessage(message));
