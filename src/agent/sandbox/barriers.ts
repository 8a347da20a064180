import { constants, writeFileSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../home/private-file.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import { PROTECTED_PATHS } from './protected-paths.ts';

/** How a command is kept from a root's protected paths. Paths relative to the root. */
export interface Barrier {
  /** Mounted read-only. */
  readOnly: string[];
  /** Mounted as they are, so that they cannot be moved away together with the protected path in them. */
  pinned: string[];
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
  /** How many commands use a placeholder, by its path. */
  const users = new Map<string, number>();
  let count = 0;
  /** Otherwise, a command would mount over a placeholder that another one is just removing. */
  const serial = createSerialKeys();

  /** Whether the path exists now, if need be as a placeholder. */
  async function ensure(root: HeldFolder, name: string, made: string[]): Promise<boolean> {
    const path = join(root.path, name);
    const known = users.get(path);
    if (known !== undefined) {
      users.set(path, known + 1);
      made.push(path);
      return true;
    }
    try {
      await makePlaceholder(join(root.way, name), name);
      users.set(path, 1);
      made.push(path);
      return true;
    } catch (error) {
      return hasCode(error, 'EEXIST'); // otherwise it cannot be made, neither by us nor by the command
    }
  }

  async function removeAll(made: readonly string[]): Promise<void> {
    const unused = made.filter((path) => {
      const left = (users.get(path) ?? 1) - 1;
      if (left > 0) users.set(path, left);
      else users.delete(path);
      return left <= 0;
    });
    // Somebody outside may have put something there, or removed it.
    await Promise.all(unused.map(removePlaceholder));
  }

  async function raise(root: HeldFolder, writable: readonly string[]): Promise<Barrier> {
    const isPlaceholder = (name: string) => users.has(join(root.path, name));
    const { existing, missing, pinned } = await planFor(root, { writable: new Set(writable), isPlaceholder });
    const made: string[] = [];
    count += 1;
    const list = join(folder, String(count));
    const paths = missing.map((name) => join(root.path, name));
    if (paths.length > 0) await note(list, paths);
    const there = await Promise.all(missing.map((name) => ensure(root, name, made)));
    return {
      readOnly: [...existing, ...missing.filter((_, i) => there[i])],
      pinned,
      async remove() {
        await serial.run(root.path, () => removeAll(made));
        if (paths.length > 0) await rm(list, { force: true });
      },
    };
  }

  return {
    raise: (root, writable) => serial.run(root.path, () => raise(root, writable)),
    async removeLeftovers() {
      for (const name of await readdir(folder).catch(() => [])) {
        const text = await readFile(join(folder, name), 'utf8');
        for (const path of text.split('\0').toReversed()) await removePlaceholder(path);
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

/** Files that change nothing for git, which dies if it finds folders or, in the first case, an empty file there. */
const PLACEHOLDER_FILES = new Map([
  ['.git/commondir', '.\n'],
  ['.git/config.worktree', ''],
]);

/** Rejects with EEXIST if something is there. */
async function makePlaceholder(path: string, name: string): Promise<void> {
  const content = PLACEHOLDER_FILES.get(name);
  if (content === undefined) await mkdir(path);
  // At once, because a git outside that finds the file before its content is written dies.
  else writeFileSync(path, content, { flag: 'wx' });
}

/** Leaves what somebody outside has put there meanwhile. */
async function removePlaceholder(path: string): Promise<void> {
  const [, content] = [...PLACEHOLDER_FILES].find(([name]) => path.endsWith(`/${name}`)) ?? [];
  try {
    if (content === undefined) await rmdir(path);
    else if ((await readFile(path, 'utf8')) === content) await rm(path);
  } catch {
    // not made, removed, or in use
  }
}

interface Plan {
  existing: string[];
  missing: string[];
  pinned: string[];
}

/** Folders around protected paths. */
const PARENTS = ['.git', 'node_modules'];

interface PlanOptions {
  writable: ReadonlySet<string>;
  /** Whether this is only there for another command, and counts as missing. */
  isPlaceholder(name: string): boolean;
}

async function planFor(root: HeldFolder, { writable, isPlaceholder }: PlanOptions): Promise<Plan> {
  const plan: Plan = { existing: [], missing: [], pinned: [] };
  const kinds = await kindsOf(root, [...PARENTS, ...PROTECTED_PATHS, '.git/HEAD']);
  for (const name of [...kinds.keys()].filter(isPlaceholder)) kinds.delete(name);
  for (const parent of PARENTS) {
    const inner = PROTECTED_PATHS.filter((name) => name.startsWith(`${parent}/`));
    addParent(plan, { parent, kind: kinds.get(parent), inner, writable, kinds });
  }
  for (const name of PROTECTED_PATHS) {
    if (name.includes('/') || writable.has(name)) continue;
    add(plan, name, kinds.get(name));
  }
  return plan;
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
  else if (kind !== 'link') plan.existing.push(name); // nothing can be mounted over a link
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
