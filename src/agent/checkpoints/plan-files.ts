import { type Entry, isSameEntry } from './entry.ts';
import type { Look } from './look.ts';
import { differences, type TreeReader } from './tree.ts';

/** What to do with files that are not as the runs left them: leave them, or put the earlier content there anyway. */
export type OnConflict = 'refuse' | 'keep' | 'overwrite';

/** A path in one of the roots of a snapshot. */
export interface RootedPath {
  /** The index of the root. */
  root: number;
  path: string;
}

/** What one path becomes. */
export interface FileChange extends RootedPath {
  from: Entry | undefined;
  to: Entry | undefined;
  /** The permissions of folders on the way that are missing; null: unknown. */
  folderModes?: readonly (number | null)[];
}

/** One run to take back, or to bring back: each root's tree that is expected, and the one that is wanted. */
export interface FileStep {
  from: readonly (string | undefined)[];
  to: readonly (string | undefined)[];
  /** Contents that are wanted instead: what an earlier change overwrote. */
  instead?: readonly (RootedPath & { entry: Entry | null })[];
  /** What is expected was seen late, so each path may be changed by somebody else. */
  isLate?: boolean;
}

/** Why a path cannot simply be changed. */
export type ConflictReason = 'changed' | 'removed' | 'created' | 'unknown';

export interface FilePlan {
  changes: FileChange[];
  conflicts: (RootedPath & { reason: ConflictReason })[];
  /** Conflicts that the choice leaves as they are. */
  kept: RootedPath[];
  /** Paths whose wanted content was never stored. */
  missing: RootedPath[];
  /** Per step: what was found at the paths that are overwritten. */
  overwritten: (RootedPath & { entry: Entry | undefined })[][];
}

interface Planned extends RootedPath {
  initial: Entry | undefined;
  current: Entry | undefined;
  /** Of the file that is there now. */
  id: string | undefined;
  folderModes?: readonly (number | null)[];
  isSettled?: true;
}

interface Planning {
  /** Undefined: every path. */
  includes?: ((at: RootedPath) => boolean) | undefined;
  reader: TreeReader;
  /** What is at a path now. */
  look(at: RootedPath): Pick<Look, 'entry' | 'id'>;
  choose(at: RootedPath): OnConflict;
}

/**
 * Plans steps one after another on what is on disk. A path is a conflict if it is neither as the step expects it nor already
 * as wanted: somebody else has changed it. No other path is looked at.
 */
export function planFiles(
  steps: readonly FileStep[],
  { reader, look, choose, includes = () => true }: Planning,
): FilePlan {
  const planned = new Map<string, Planned>();
  const plan: FilePlan = { changes: [], conflicts: [], kept: [], missing: [], overwritten: [] };
  const at = (place: RootedPath): Planned => {
    const key = `${place.root} ${place.path}`;
    const known = planned.get(key);
    if (known) return known;
    const { entry: current, id } = look(place);
    const first: Planned = { ...place, initial: current, current, id };
    planned.set(key, first);
    return first;
  };
  for (const step of steps) {
    plan.overwritten.push([]);
    for (const wish of wishesOf(step, reader))
      if (includes(wish.place)) planOne(at(wish.place), wish, { plan, choose });
  }
  const isKept = keptFiles([...planned.values()]);
  plan.changes = [...planned.values()].flatMap((each) => {
    const { root, path, initial: from, current: to, folderModes } = each;
    if (from === to || isSameEntry(from, to) || isKept(each)) return [];
    return [{ root, path, from, to, ...(to && folderModes?.some((mode) => mode !== null) && { folderModes }) }];
  });
  return plan;
}

/** Whether a file stays under a name that its file system does not tell from this one, such as Readme.md and README.md. */
function keptFiles(planned: readonly Planned[]): (each: Planned) => boolean {
  const nameOf = ({ root, path, id }: Planned) => `${id} ${root} ${path.toLowerCase()}`;
  const kept = new Set(planned.filter(({ current }) => current !== undefined).map(nameOf));
  return (each) => each.id !== undefined && each.current === undefined && kept.has(nameOf(each));
}

function planOne(
  path: Planned,
  { place, wanted, expected, isKnown, folderModes }: Wish,
  { plan, choose }: Pick<Planning, 'choose'> & { plan: FilePlan },
): void {
  if (path.isSettled || isSameEntry(path.current, wanted)) return;
  if (wanted?.kind === 'left_out') {
    plan.missing.push(place);
    path.isSettled = true;
    return;
  }
  const choice = isKnown && isSameEntry(path.current, expected) ? 'undisputed' : choose(place);
  if (choice === 'overwrite') plan.overwritten.at(-1)?.push({ ...place, entry: path.current });
  path.folderModes = folderModes;
  if (choice === 'undisputed' || choice === 'overwrite') path.current = wanted;
  else path.isSettled = true;
  if (choice === 'keep') plan.kept.push(place);
  if (choice === 'refuse') plan.conflicts.push({ ...place, reason: reasonOf(path.current, expected) });
}

interface Wish {
  place: RootedPath;
  expected: Entry | undefined;
  wanted: Entry | undefined;
  /** Whether it is certain that the runs left what is expected. */
  isKnown: boolean;
  folderModes: readonly (number | null)[];
}

function* wishesOf({ from, to, instead = [], isLate = false }: FileStep, reader: TreeReader): Generator<Wish> {
  for (const root of from.keys()) {
    const pair: [string | undefined, string | undefined] = [from[root], to[root]];
    for (const { path, before: expected, after, folderModes } of differences(reader, pair)) {
      const other = instead.find((each) => each.root === root && each.path === path);
      const wanted = other ? (other.entry ?? undefined) : after;
      yield { place: { root, path }, expected, wanted, isKnown: !isLate, folderModes };
    }
  }
}

function reasonOf(current: Entry | undefined, expected: Entry | undefined): ConflictReason {
  if (current?.kind === 'left_out' || expected?.kind === 'left_out' || isSameEntry(current, expected)) return 'unknown';
  if (current === undefined) return 'removed';
  return expected === undefined ? 'created' : 'changed';
}
