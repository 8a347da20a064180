import { join, relative } from 'node:path';
import type { FoundFiles } from '../../../protocol/methods/conversation/file.ts';
import type { Clock } from '../../clock.ts';
import { withDeadline } from '../process/deadline.ts';
import { StopReason } from '../stop-reason.ts';
import { type Confinement, isInside } from '../tools/files/confinement.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import { isSecretPath } from '../tools/files/secret-path.ts';
import { findWithWorker } from '../tools/search/search-walk.ts';
import type { Workdir } from '../tools/workdir.ts';
import { namesWithRipgrep } from './ripgrep-names.ts';

interface FinderDeps {
  confinement: Confinement;
  clock: Clock;
  workerUrl: URL;
  ripgrep: string | undefined;
}

interface Names {
  /** As they are shown: relative to the working directory, or absolute. */
  paths: readonly string[];
  complete: boolean;
}

const DEADLINE_MS = 10_000;
const MOST_NAMES = 20_000;
/** While somebody types, the folder is not read again for each key. */
const FRESH_MS = 5_000;
/** Each holds up to 20 000 names. */
const MOST_KEPT = 8;

/** Finds files by their names, in all folders of a workstream. */
export function createFinder(deps: FinderDeps) {
  const kept = new Map<string, { atMs: number; names: Promise<Names> }>();

  function namesOf(workdir: Workdir): Promise<Names> {
    const key = [workdir.folder, ...workdir.readable].map(({ path, ino }) => `${ino} ${path}`).join('\n');
    const known = kept.get(key);
    const nowMs = deps.clock.monotonic();
    if (known && nowMs - known.atMs < FRESH_MS) return known.names;
    if (kept.size >= MOST_KEPT) kept.clear();
    const names = readAll(workdir, deps);
    kept.set(key, { atMs: nowMs, names });
    names.catch(() => kept.delete(key)); // the next call tries again
    return names;
  }

  return {
    async find(workdir: Workdir, query: string, limit: number): Promise<FoundFiles> {
      const { paths, complete } = await namesOf(workdir);
      const best = query === '' ? paths.slice(0, limit) : await matching(paths, query, limit);
      const found = await Promise.all(best.map((path) => isStillThere(path, workdir, deps.confinement)));
      return { paths: best.filter((_, index) => found[index]), complete };
    },
  };
}

async function matching(paths: readonly string[], query: string, limit: number): Promise<string[]> {
  const { default: fuzzysort } = await import('fuzzysort'); // rarely used
  return fuzzysort.go(query, [...paths], { limit, threshold: 0.2 }).map(({ target }) => target);
}

/** A folder may have been replaced by a link while it was walked. */
async function isStillThere(path: string, workdir: Workdir, confinement: Confinement): Promise<boolean> {
  const place = await confinement.locate(path, workdir);
  return place.kind === 'allowed' && place.exists && place.base !== undefined && !place.isSecret;
}

async function readAll({ folder, readable }: Workdir, deps: FinderDeps): Promise<Names> {
  const roots = [folder, ...readable.filter(({ path }) => !isInside(folder.path, path))];
  const all: string[] = [];
  let complete = true;
  for (const root of roots) {
    const found = await readNames(root, { deps, most: MOST_NAMES - all.length });
    complete &&= found.complete;
    all.push(...found.paths.map((path) => (root === folder ? path : join(root.path, path))));
  }
  return { paths: all, complete };
}

async function readNames(root: HeldFolder, { deps, most }: { deps: FinderDeps; most: number }): Promise<Names> {
  using deadline = withDeadline(new AbortController().signal, { clock: deps.clock, ms: DEADLINE_MS });
  const paths: string[] = [];
  try {
    for await (const path of walk(root, deps, deadline.signal)) {
      if (paths.length === most) return { paths: sorted(paths), complete: false };
      if (!isSecretPath(path)) paths.push(path);
    }
    return { paths: sorted(paths), complete: true };
  } catch (error) {
    if (!(error instanceof StopReason)) throw error;
    return { paths: sorted(paths), complete: false };
  }
}

async function* walk(
  root: HeldFolder,
  { ripgrep, workerUrl }: FinderDeps,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // A program that lies in the folder could be one that a command put there.
  if (ripgrep !== undefined && !isInside(root.path, ripgrep)) {
    yield* namesWithRipgrep(ripgrep, root.way, signal);
    return;
  }
  const request = { target: root.way, root: root.way, patterns: ['*'] };
  for await (const found of findWithWorker(workerUrl, request, signal))
    for (const { path } of found) yield relative(root.way, path);
}

/** Files near the top first. */
function sorted(paths: string[]): string[] {
  const depth = (path: string) => path.split('/').length;
  return paths.sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}
