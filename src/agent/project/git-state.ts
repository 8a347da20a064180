import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { findProjectFolders, readFileStart } from './project-folders.ts';

/**
 * Describes the repository of a folder in words for the model. Reads files only: the configuration of a repository can
 * name programs that git would run.
 */
export async function findGitState(workdir: string): Promise<string | undefined> {
  const root = (await findProjectFolders(workdir)).at(-1) ?? workdir;
  const gitFolder = await findGitFolder(path.join(root, '.git'));
  if (gitFolder === undefined) return undefined;
  const head = await readLine(path.join(gitFolder, 'HEAD'));
  const branch = /^ref: refs\/heads\/([\w./+-]{1,200})$/.exec(head)?.[1];
  const under = UNDER_WAY[await firstThere(gitFolder, Object.keys(UNDER_WAY))];
  const where = branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? `detached at ${head.slice(0, 12)}` : undefined);
  if (where === undefined) return undefined;
  const place = branch === undefined ? where : `branch ${where}`;
  return [place, `repository ${root}`, ...(under === undefined ? [] : [under])].join(', ');
}

const UNDER_WAY: Record<string, string> = {
  MERGE_HEAD: 'a merge is in progress',
  'rebase-merge': 'a rebase is in progress',
  'rebase-apply': 'a rebase is in progress',
  CHERRY_PICK_HEAD: 'a cherry-pick is in progress',
  REVERT_HEAD: 'a revert is in progress',
  BISECT_LOG: 'a bisect is in progress',
};

async function firstThere(folder: string, names: readonly string[]): Promise<string> {
  const there = await Promise.all(names.map((name) => lstat(path.join(folder, name)).catch(() => undefined))); // missing
  return names.find((_, index) => there[index]) ?? '';
}

/** In worktrees and submodules, `.git` is a file that names the folder. */
async function findGitFolder(place: string): Promise<string | undefined> {
  const stats = await lstat(place).catch(() => undefined); // no repository
  if (stats?.isDirectory()) return place;
  const named = /^gitdir: ([^\0\n]{1,1000})$/.exec(await readLine(place))?.[1];
  return named === undefined ? undefined : path.resolve(path.dirname(place), named);
}

/** Empty if there is no such file. */
async function readLine(file: string): Promise<string> {
  const start = await readFileStart(file, 1_100);
  return start?.bytes.toString('utf8').split('\n', 1)[0] ?? '';
}
