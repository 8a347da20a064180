import { constants } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { isInside } from '../tools/files/confinement.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import { type HeldPath, holdPaths, openFolders } from './held-paths.ts';
import { findNested, findPrograms, type NestedRepository, protectedOf } from './nested-repositories.ts';
import { createPlaceholders, removeLeftover } from './placeholders.ts';
import { findReplaced, leadTo, readLinks } from './protected-links.ts';
import { type PlantedPath, PROTECTED_PATHS } from './protected-paths.ts';

/** How a command is kept from a root's protected paths. Paths relative to the root. */
export interface Barrier {
  /** Mounted read-only. */
  readOnly: readonly HeldPath[];
  /** Mounted as they are, so that they cannot be moved away together with the protected path in them. */
  pinned: readonly HeldPath[];
  /**
   * Repositories that commands have made inside the root, with settings that name programs: a git outside runs these. Each
   * is told once. And protected links that were replaced. Call it when the command has ended.
   */
  findPlanted(): Promise<PlantedPath[]>;
  /** Removes what was only made for the mounts. */
  remove(): Promise<void>;
}

/** Raises barriers, and takes them away without a trace. */
export interface Barriers {
  /** `writable`: the protected paths, relative to the root, that this command may change. */
  raise(root: HeldFolder, writable: readonly string[]): Promise<Barrier>;
  /** Removes what a daemon left that was killed. Call it before the first barrier. */
  removeLeftovers(): Promise<void>;
}

interface BarrierDeps {
  /** Where the barriers of running commands are listed; created when needed. */
  folder: string;
}

/**
 * Only what exists can be mounted over, so an empty folder stands for a missing path while commands run: git does not
 * show empty folders, and nobody can put a file there. Where git itself reads a file, one that says nothing stands for
 * it. Commands that run at once in one root share it.
 */
export function createBarriers({ folder }: BarrierDeps): Barriers {
  const placeholders = createPlaceholders();
  let count = 0;
  const plantings = createPlantings();
  /** Otherwise, a command would mount over a placeholder that another one is just removing. */
  const serial = createSerialKeys();

  async function raise(root: HeldFolder, writable: readonly string[]): Promise<Barrier> {
    const isPlaceholder = (name: string) => placeholders.isOne(join(root.path, name));
    const before = await findNested(root.way);
    // Whoever may change the root's own settings needs no others.
    const kept = writable.includes('.git/config')
      ? []
      : before.filter(({ place }) => !plantings.isMade(join(root.path, place)));
    const nested = kept.flatMap(protectedOf);
    const plan = await planFor(root, { writable: new Set(writable), nested, isPlaceholder });
    const { existing, missing, pinned, links } = plan;
    const held = await readLinks(root, links);
    const placed: string[] = [];
    count += 1;
    const list = join(folder, String(count));
    const paths = missing.map((name) => join(root.path, name));
    if (paths.length > 0) await note(list, paths);
    const folders = openFolders(root);
    const there = await Promise.all(missing.map((name) => placeholders.ensure({ root, folders }, name, placed)));
    await folders.close();
    const takeAway = async () => {
      await placeholders.release(root, placed);
      if (paths.length > 0) await rm(list, { force: true });
    };
    try {
      const readOnly = await holdPaths(root, [...existing, ...missing.filter((_, i) => there[i])]);
      const around = await holdPaths(root, pinned).catch(async (error: unknown) => {
        await readOnly.close(); // a handle that is only forgotten ends the process
        throw error;
      });
      return {
        readOnly: readOnly.held,
        pinned: around.held,
        findPlanted: async () => [...(await plantings.find(root, before)), ...(await findReplaced(root, held))],
        async remove() {
          await Promise.all([readOnly.close(), around.close()]);
          await serial.run(root.path, takeAway);
        },
      };
    } catch (error) {
      await takeAway();
      throw new Error('protected paths of the folder were changed while the command was being started', {
        cause: error,
      });
    }
  }

  return {
    raise: (root, writable) => serial.run(root.path, () => raise(root, writable)),
    async removeLeftovers() {
      for (const name of await readdir(folder).catch(() => [])) {
        const text = await readFile(join(folder, name), 'utf8');
        for (const path of text.split('\0').toReversed()) await removeLeftover(path);
        await rm(join(folder, name));
      }
    },
  };

  /** Written before the placeholders are made, for the daemon that starts after a kill. */
  async function note(list: string, paths: readonly string[]): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(list, paths.join('\0'), { mode: 0o600 });
  }
}

/** What commands make inside the roots. */
function createPlantings() {
  /** What was last told of repositories that commands have made, by their paths. These are not protected. */
  const made = new Map<string, string | undefined>();

  async function find(root: HeldFolder, before: readonly NestedRepository[]): Promise<PlantedPath[]> {
    const known = new Set(before.map(({ place }) => place));
    const planted: PlantedPath[] = [];
    const found = await findNested(root.way);
    forgetMissing(root.path, new Set(found.map(({ place }) => join(root.path, place))));
    for (const repository of found) {
      const path = join(root.path, repository.place);
      if (known.has(repository.place) && !made.has(path)) continue;
      const why = await findPrograms(root, repository);
      if (why !== undefined && why !== made.get(path)) planted.push({ kind: 'repository', path, why });
      made.set(path, why);
    }
    return planted;
  }

  /** What a person makes in their place later is protected. */
  function forgetMissing(root: string, there: ReadonlySet<string>): void {
    const gone = [...made.keys()].filter((path) => isInside(root, path) && !there.has(path));
    for (const path of gone) made.delete(path);
  }

  return { isMade: (path: string) => made.has(path), find };
}

interface Plan {
  existing: string[];
  missing: string[];
  pinned: string[];
  /** Nothing can be mounted over them, but over what they lead to. */
  links: string[];
}

/** Folders around protected paths. */
const PARENTS = ['.git', 'node_modules'];

interface PlanOptions {
  writable: ReadonlySet<string>;
  /** Protected paths of repositories inside the root. */
  nested: readonly string[];
  /** Whether this is only there for another command, and counts as missing. */
  isPlaceholder(name: string): boolean;
}

async function planFor(root: HeldFolder, { writable, nested, isPlaceholder }: PlanOptions): Promise<Plan> {
  const plan: Plan = { existing: [], missing: [], pinned: [], links: [] };
  const kinds = await kindsOf(root, [...PARENTS, ...PROTECTED_PATHS, '.git/HEAD', ...nested]);
  for (const name of [...kinds.keys()].filter(isPlaceholder)) kinds.delete(name);
  for (const parent of PARENTS) {
    const inner = PROTECTED_PATHS.filter((name) => name.startsWith(`${parent}/`));
    addParent(plan, { parent, kind: kinds.get(parent), inner, writable, kinds });
  }
  for (const name of PROTECTED_PATHS) {
    if (name.includes('/') || writable.has(name)) continue;
    add(plan, name, kinds.get(name));
  }
  for (const name of nested) add(plan, name, kinds.get(name));
  const seen = await addTargets(plan, plan.links, { root, writable });
  await addTargets(plan, seen, { root, writable }); // a link in a folder that a link leads to
  return plan;
}

/** Adds what links lead to. Returns the links among that. */
async function addTargets(
  plan: Plan,
  links: readonly string[],
  { root, writable }: { root: HeldFolder; writable: ReadonlySet<string> },
): Promise<string[]> {
  const names = (await Promise.all(links.map((name) => leadTo(root, name)))).flat();
  const kinds = await kindsOf(root, names);
  const kept = names.filter((name) => !writable.has(name));
  const further = kept.filter((name) => kinds.get(name) === 'link');
  for (const name of kept) if (!further.includes(name)) add(plan, name, kinds.get(name));
  return further;
}

interface ParentPlan {
  parent: string;
  kind: Kind | undefined;
  inner: readonly string[];
  writable: ReadonlySet<string>;
  kinds: ReadonlyMap<string, Kind>;
}

function addParent(plan: Plan, { parent, kind, inner, writable, kinds }: ParentPlan): void {
  const kept = inner.filter((name) => !writable.has(name));
  if (kept.length === 0) return;
  // A repository that is only begun, or none at all: whoever completes it decides what it runs.
  const isWhole = kind === 'folder' && (parent !== '.git' || kinds.has('.git/HEAD'));
  if (isWhole) {
    plan.pinned.push(parent);
    for (const name of kept) add(plan, name, kinds.get(name));
  } else if (kept.length === inner.length) {
    add(plan, parent, kind);
  }
}

function add(plan: Plan, name: string, kind: Kind | undefined): void {
  if (kind === undefined) plan.missing.push(name);
  else (kind === 'link' ? plan.links : plan.existing).push(name);
}

type Kind = 'folder' | 'file' | 'link';

/** What is at these names; without those where nothing is. */
async function kindsOf(root: HeldFolder, names: readonly string[]): Promise<Map<string, Kind>> {
  const found = await Promise.all(names.map(async (name) => [name, await kindOf(join(root.way, name))] as const));
  return new Map(found.flatMap(([name, kind]) => (kind === undefined ? [] : [[name, kind]])));
}

async function kindOf(path: string): Promise<Kind | undefined> {
  try {
    const mode = (await lstat(path)).mode & constants.S_IFMT;
    if (mode === constants.S_IFDIR) return 'folder';
    return mode === constants.S_IFLNK ? 'link' : 'file';
  } catch {
    return undefined; // missing
  }
}
