import { writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode } from '../../home/private-file.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';

/** What stands for missing paths; commands that run at once in one root share it. */
export function createPlaceholders() {
  /** How many commands use a placeholder, by its path. */
  const users = new Map<string, number>();

  /** Whether the path exists now, if need be as a placeholder. */
  async function ensure(root: HeldFolder, name: string, placed: string[]): Promise<boolean> {
    const path = join(root.path, name);
    const known = users.get(path);
    if (known !== undefined) {
      users.set(path, known + 1);
      placed.push(path);
      return true;
    }
    try {
      await makePlaceholder(join(root.way, name));
      users.set(path, 1);
      placed.push(path);
      return true;
    } catch (error) {
      return hasCode(error, 'EEXIST'); // otherwise it cannot be made, neither by us nor by the command
    }
  }

  async function release(placed: readonly string[]): Promise<void> {
    const unused = placed.filter((path) => {
      const left = (users.get(path) ?? 1) - 1;
      if (left > 0) users.set(path, left);
      else users.delete(path);
      return left <= 0;
    });
    // Somebody outside may have put something there, or removed it.
    await Promise.all(unused.map(removePlaceholder));
  }

  return { isOne: (path: string) => users.has(path), ensure, release };
}

/** Files that change nothing for git, which dies if it finds folders or, in the first case, an empty file there. */
const PLACEHOLDER_FILES = new Map([
  ['commondir', '.\n'],
  ['config.worktree', ''],
]);

/** Rejects with EEXIST if something is there. */
async function makePlaceholder(path: string): Promise<void> {
  const content = PLACEHOLDER_FILES.get(basename(path));
  if (content === undefined) await mkdir(path);
  // At once, because a git outside that finds the file before its content is written dies.
  else writeFileSync(path, content, { flag: 'wx' });
}

/** Leaves what somebody outside has put there meanwhile. */
export async function removePlaceholder(path: string): Promise<void> {
  const content = PLACEHOLDER_FILES.get(basename(path));
  try {
    if (content === undefined) await rmdir(path);
    else if ((await readFile(path, 'utf8')) === content) await rm(path);
  } catch {
    // not made, removed, or in use
  }
}
