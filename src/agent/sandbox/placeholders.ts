import { constants, writeFileSync } from 'node:fs';
import { mkdir, open, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { hasCode } from '../../home/private-file.ts';
import { type HeldFolder, wayOf } from '../tools/files/held-folder.ts';
import { openFolderBelow } from '../tools/files/walk.ts';
import { type OpenedFolders, openFolders, SAFE_READ } from './held-paths.ts';

/** A root, and the folders in it that are open. */
interface Place {
  root: HeldFolder;
  folders: OpenedFolders;
}

/** What stands for missing paths; commands that run at once in one root share it. */
export function createPlaceholders() {
  /** How many commands use a placeholder, by its path. */
  const users = new Map<string, number>();

  /** Whether the path exists now, if need be as a placeholder. */
  async function ensure({ root, folders }: Place, name: string, placed: string[]): Promise<boolean> {
    const path = join(root.path, name);
    const known = users.get(path);
    if (known !== undefined) {
      users.set(path, known + 1);
      placed.push(path);
      return true;
    }
    try {
      await makePlaceholder(folders, name);
      users.set(path, 1);
      placed.push(path);
      return true;
    } catch (error) {
      return hasCode(error, 'EEXIST'); // otherwise it cannot be made, neither by us nor by the command
    }
  }

  async function release(root: HeldFolder, placed: readonly string[]): Promise<void> {
    const unused = placed.filter((path) => {
      const left = (users.get(path) ?? 1) - 1;
      if (left > 0) users.set(path, left);
      else users.delete(path);
      return left <= 0;
    });
    const folders = openFolders(root);
    const remove = async (path: string): Promise<void> => {
      const name = relative(root.path, path);
      const folder = await folders.wayTo(dirname(name)).catch(() => undefined); // gone, or replaced by a link
      if (folder !== undefined) await removeIn(folder, basename(name));
    };
    await Promise.all(unused.map(remove));
    await folders.close();
  }

  return { isOne: (path: string) => users.has(path), ensure, release };
}

/** Files that change nothing for git, which dies if it finds folders or, in the first case, an empty file there. */
const PLACEHOLDER_FILES = new Map([
  ['commondir', '.\n'],
  ['config.worktree', ''],
]);

/** Rejects with EEXIST if something is there, and if a link is on the way. */
async function makePlaceholder(folders: OpenedFolders, name: string): Promise<void> {
  const path = join(await folders.wayTo(dirname(name)), basename(name));
  const content = PLACEHOLDER_FILES.get(basename(name));
  if (content === undefined) await mkdir(path);
  // At once, because a git outside that finds the file before its content is written dies.
  else writeFileSync(path, content, { flag: 'wx' });
}

/** Of a daemon that was killed. */
export async function removeLeftover(path: string): Promise<void> {
  try {
    await using parent = await openFolderBelow({ base: undefined, path: dirname(path) }, { make: false });
    if (parent) await removeIn(wayOf(parent), basename(path));
  } catch {
    // its folder is gone, or a link took the place of one on the way
  }
}

/** Leaves what somebody outside has put there meanwhile, or in place of a folder on the way. */
async function removeIn(folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  const content = PLACEHOLDER_FILES.get(name);
  try {
    if (content === undefined) await rmdir(path);
    else if (await says(path, content)) await rm(path);
  } catch {
    // not made, removed, or in use
  }
}

/** A command may have put a pipe there, which nobody may wait for. */
async function says(path: string, content: string): Promise<boolean> {
  await using file = await open(path, SAFE_READ);
  const { size, ...stats } = await file.stat();
  return (
    size === content.length &&
    (stats.mode & constants.S_IFMT) === constants.S_IFREG &&
    (await file.readFile('utf8')) === content
  );
}
