import path from 'node:path';
import { type FileLooks, patientLooks } from '../tools/files/file-looks.ts';

/**
 * Describes the repository with this root in words for the model. Reads files only: the configuration of a repository can
 * name programs that git would run.
 */
export async function findGitState(root: string, looks: FileLooks): Promise<string | undefined> {
  const git = await findGitFolder(path.join(root, '.git'), looks);
  if (git === undefined) return undefined;
  const head = await readLine(path.join(git.folder, 'HEAD'), git.looks);
  const branch = /^ref: refs\/heads\/([\w./+-]{1,200})$/.exec(head)?.[1];
  const under = UNDER_WAY[await firstThere(git)];
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

interface GitFolder {
  folder: string;
  looks: FileLooks;
}

async function firstThere({ folder, looks }: GitFolder): Promise<string> {
  const names = Object.keys(UNDER_WAY);
  const there = await Promise.all(names.map((name) => looks.isThere(path.join(folder, name))));
  return names.find((_, index) => there[index]) ?? '';
}

/** In worktrees and submodules, `.git` is a file that names the folder, which may be on any disk. */
async function findGitFolder(place: string, looks: FileLooks): Promise<GitFolder | undefined> {
  if (await looks.isFolder(place)) return { folder: place, looks };
  const named = /^gitdir: ([^\0\n]{1,1000})$/.exec(await readLine(place, looks))?.[1];
  return named === undefined ? undefined : { folder: path.resolve(path.dirname(place), named), looks: patientLooks };
}

/** Empty if there is no such file. */
async function readLine(file: string, looks: FileLooks): Promise<string> {
  const start = await looks.readStart(file, 1_100);
  return start?.bytes.toString('utf8').split('\n', 1)[0] ?? '';
}
