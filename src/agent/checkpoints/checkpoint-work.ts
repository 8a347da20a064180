import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyFiles, type NotApplied } from './apply-files.ts';
import { type ComparedFile, compareFiles } from './compare-files.ts';
import { type Entry, type LeftOutReason, toShownPath } from './entry.ts';
import { type KeepRequest, type KeptFile, keepFile } from './keep-file.ts';
import { type Look, lookAt } from './look.ts';
import { ObjectStore } from './object-store.ts';
import {
  type ConflictReason,
  type FileChange,
  type FileStep,
  type OnConflict,
  planFiles,
  type RootedPath,
} from './plan-files.ts';
import { type Snapshot, type SnapshotLimits, type SnapshotRoot, takeSnapshot } from './snapshot.ts';
import { StatCache } from './stat-cache.ts';
import { addAllHashes, differences, leftOutOf } from './tree.ts';

/** A path as people see it: relative in the first root, absolute in the others. */
interface Shown {
  shown: string;
}

/** A plan for people, and for `apply`. */
export interface ShownPlan {
  changes: (FileChange & Shown)[];
  conflicts: (Shown & { reason: ConflictReason })[];
  kept: string[];
  missing: string[];
  overwritten: (RootedPath & { entry: Entry | null })[][];
}

type TreePair = readonly [string | undefined, string | undefined];

/** Objects that are needed, and trees with all that they hold. */
interface Used {
  wsId: string;
  trees: string[];
  objects: string[];
}

/** The work on files, by its kind: what it takes and what it gives. */
export interface CheckpointWork {
  snapshot: {
    request: { wsId: string; roots: SnapshotRoot[]; limits: SnapshotLimits; bases?: (string | undefined)[] };
    reply: Snapshot[];
  };
  /** Stores the contents that the plan would overwrite. */
  plan: {
    request: {
      wsId: string;
      roots: SnapshotRoot[];
      steps: FileStep[];
      choices: { path: string; choice: OnConflict }[];
      /** For other conflicts. */
      others: OnConflict;
      /** Only this path, as people see it. */
      only?: string | undefined;
      maxFileBytes: number;
    };
    reply: ShownPlan;
  };
  /** Stores one file as it is, and as it should be. */
  keep: { request: KeepRequest & { wsId: string }; reply: KeptFile };
  apply: {
    request: { wsId: string; roots: SnapshotRoot[]; changes: FileChange[]; id: string; maxFileBytes: number };
    reply: (NotApplied & Shown)[];
  };
  compare: {
    request: { wsId: string; paths: string[]; trees: TreePair[]; only?: string | undefined; maxBytes: number };
    reply: (ComparedFile & Shown)[];
  };
  /** How many files differ. */
  count: { request: { wsId: string; trees: TreePair[] }; reply: number };
  leftOut: {
    request: { wsId: string; paths: string[]; trees: string[]; limit: number };
    reply: (Shown & { reason: LeftOutReason })[];
  };
  /** Whether these trees are stored. */
  holds: { request: { wsId: string; trees: string[] }; reply: boolean };
  /** Removes everything but these objects and what these trees hold. Returns how many bytes are left. */
  keepOnly: { request: Used & { isTight?: boolean }; reply: number };
  /** How many bytes these objects and what these trees hold take. */
  used: { request: Used; reply: number };
  bytes: { request: { wsId: string }; reply: number };
  /** The workstreams for which something is stored. */
  workstreams: { request: Record<string, never>; reply: string[] };
  /** Removes all that is stored for these workstreams. */
  drop: { request: { wsIds: string[] }; reply: undefined };
}

/** Does the work, in the thread of the caller. */
export type CheckpointWorker = {
  [K in keyof CheckpointWork]: (request: CheckpointWork[K]['request']) => CheckpointWork[K]['reply'];
};

interface Options {
  /** Has a folder per workstream. */
  folder: string;
  /** The daemon's home, which no snapshot contains. */
  home: string;
  now(): number;
}

interface Kept {
  objects: ObjectStore;
  stats: StatCache;
}

/** So many workstreams are kept in memory. */
const MOST_KEPT = 8;

/** The work on the files of workstreams. Everything is synchronous: it runs in a thread of its own. */
export function createCheckpointWorker({ folder, home, now }: Options): CheckpointWorker {
  const kept = new Map<string, Kept>();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const of = (wsId: string): Kept => {
    const known = kept.get(wsId) ?? { objects: new ObjectStore(join(folder, wsId)), stats: new StatCache() };
    kept.delete(wsId);
    kept.set(wsId, known);
    for (const [oldest] of kept) if (kept.size > MOST_KEPT) kept.delete(oldest);
    return known;
  };
  return {
    snapshot: ({ wsId, roots, limits, bases = [] }) =>
      roots.map((root, index) => takeSnapshot({ root, limits, home, base: bases[index] }, { ...of(wsId), now })),
    plan: (request) => plan(request, of(request.wsId)),
    keep: ({ wsId, ...request }) => keepFile(request, of(wsId).objects),
    apply: ({ wsId, roots, changes, id, maxFileBytes: maxBytes }) =>
      applyFiles(changes, { roots, reader: of(wsId).objects, id, maxBytes }).map((each) => ({
        ...each,
        shown: toShown(roots, each),
      })),
    compare: ({ wsId, paths, trees, only, maxBytes }) => {
      const roots = paths.map((path) => ({ path }));
      const show = (at: RootedPath) => toShown(roots, at);
      return compareFiles(trees, of(wsId).objects, { only, toShown: show, maxBytes }).map((file) => ({
        ...file,
        shown: show(file),
      }));
    },
    count: ({ wsId, trees }) => trees.reduce((sum, pair) => sum + [...differences(of(wsId).objects, pair)].length, 0),
    leftOut: ({ wsId, paths, trees, limit }) => {
      const roots = paths.map((path) => ({ path }));
      return trees
        .flatMap((tree, root) =>
          [...leftOutOf(of(wsId).objects, tree)].map(({ path, reason }) => ({
            shown: toShown(roots, { root, path }),
            reason,
          })),
        )
        .slice(0, limit);
    },
    keepOnly({ isTight, ...used }) {
      const { objects } = of(used.wsId);
      objects.keepOnly(hashesOf(used, objects), { isTight });
      return objects.bytes;
    },
    used(used) {
      const { objects } = of(used.wsId);
      return objects.sizeOf(hashesOf(used, objects));
    },
    holds: ({ wsId, trees }) => trees.every((tree) => of(wsId).objects.has(tree)),
    bytes: ({ wsId }) => of(wsId).objects.bytes,
    workstreams: () => readdirSync(folder),
    drop({ wsIds }) {
      for (const wsId of wsIds) {
        kept.delete(wsId);
        rmSync(join(folder, wsId), { recursive: true, force: true });
      }
    },
  };
}

function hashesOf({ trees, objects: single }: Used, objects: ObjectStore): Set<string> {
  const hashes = new Set(single);
  for (const tree of trees) addAllHashes(objects, tree, hashes);
  return hashes;
}

function plan(
  { roots, steps, choices, others, only, maxFileBytes }: CheckpointWork['plan']['request'],
  { objects }: Kept,
): ShownPlan {
  const chosen = new Map(choices.map(({ path, choice }) => [path, choice]));
  const look = (at: RootedPath): Look => {
    const root = roots[at.root];
    return root ? lookAt(root, at.path, maxFileBytes) : { entry: undefined };
  };
  const show = (at: RootedPath) => toShown(roots, at);
  const planned = planFiles(steps, {
    reader: objects,
    look(at) {
      const { content: _, ...found } = look(at); // all contents together may be too large for memory
      return found;
    },
    choose: (at) => chosen.get(show(at)) ?? others,
    includes: (at) => only === undefined || show(at) === only,
  });
  objects.adding((adder) => {
    for (const { entry, ...at } of planned.overwritten.flat()) {
      if (entry?.kind !== 'file' || adder.has(entry.hash)) continue;
      const { entry: now, content } = look(at);
      // What has changed meanwhile is not overwritten.
      if (content && now?.kind === 'file' && now.hash === entry.hash) adder.add(content, entry.hash);
    }
  });
  return {
    changes: planned.changes.map((change) => ({ ...change, shown: show(change) })),
    conflicts: planned.conflicts.map(({ reason, ...at }) => ({ shown: show(at), reason })),
    kept: planned.kept.map(show),
    missing: planned.missing.map(show),
    overwritten: planned.overwritten.map((paths) => paths.map(({ entry, ...at }) => ({ ...at, entry: entry ?? null }))),
  };
}

function toShown(roots: readonly { path: string }[], { root, path }: RootedPath): string {
  const shown = toShownPath(path);
  return root === 0 ? shown : join(roots[root]?.path ?? '', shown);
}
