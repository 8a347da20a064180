import { parentPort, workerData } from 'node:worker_threads';
import { type FoundName, findNames, MAX_NAMES, type NameRequest } from './find-names.ts';
import { findMatches, type SearchHit, type SearchRequest } from './search-files.ts';

/** What the worker looks for: lines with a match, or files by their names. */
export type SearchTask = { kind: 'lines'; request: SearchRequest } | { kind: 'names'; request: NameRequest };

/** Messages of the worker; its exit marks the end. */
export type SearchMessage =
  | { kind: 'hit'; hit: SearchHit }
  | { kind: 'names'; names: FoundName[] }
  | { kind: 'invalid'; message: string };

const MAX_HITS = 2_000;
const NAMES_PER_MESSAGE = 500;

function search(task: SearchTask, say: (message: SearchMessage) => void): void {
  try {
    if (task.kind === 'lines') searchLines(task.request, say);
    else searchNames(task.request, say);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    say({ kind: 'invalid', message: error.message });
  }
}

function searchLines(request: SearchRequest, say: (message: SearchMessage) => void): void {
  let count = 0;
  for (const hit of findMatches(request)) {
    say({ kind: 'hit', hit });
    count += 1;
    if (count === MAX_HITS) return;
  }
}

function searchNames(request: NameRequest, say: (message: SearchMessage) => void): void {
  let names: FoundName[] = [];
  let count = 0;
  for (const name of findNames(request)) {
    names.push(name);
    count += 1;
    if (names.length === NAMES_PER_MESSAGE) {
      say({ kind: 'names', names });
      names = [];
    }
    if (count === MAX_NAMES) break;
  }
  say({ kind: 'names', names });
}

search(workerData, (message) => parentPort?.postMessage(message));
