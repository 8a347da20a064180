import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import ignore from 'ignore';
import { walkFiles } from './search-files.ts';

/** So many names are sorted; of more files, which ones these are depends on the order of folders. */
export const MAX_NAMES = 20_000;

export interface FoundName {
  /** Absolute. */
  path: string;
  modifiedMs: number;
}

export interface NameRequest {
  /** Absolute folder. */
  target: string;
  /** An ancestor of the target; .gitignore files count from here down. */
  root: string;
  /** Without braces; the path below the target has to match one of them. */
  patterns: readonly string[];
}

/** Finds files by their paths. Runs in a worker, as a pattern from a model can take long to match. */
export function* findNames({ target, root, patterns }: NameRequest): Generator<FoundName> {
  const wanted = ignore({ ignorecase: false }).add([...patterns]);
  for (const path of walkFiles(target, root)) {
    if (!wanted.ignores(relative(target, path).split(sep).join('/'))) continue;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats) yield { path, modifiedMs: stats.mtimeMs };
  }
}
