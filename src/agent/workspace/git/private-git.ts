import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onceItWorks } from '../../../timing/once.ts';
import type { OpenRepository } from './repository.ts';
import { type GitOutput, type GitRun, runGit } from './run-git.ts';

/** Runs git for one repository. */
export type PrivateGit = (
  repository: OpenRepository,
  run: Pick<GitRun, 'program' | 'args' | 'maxBytes' | 'signal'>,
) => Promise<GitOutput>;

/**
 * Git reads the index and the objects of a repository, but never its configuration: that can name programs, such as
 * filters, which would run outside the sandbox (decision 142). Each run has a git folder of its own in `parent`, where no
 * command in a sandbox can write.
 */
export function createPrivateGit(parent: string): PrivateGit {
  /** A daemon that was killed may have left some. */
  const swept = onceItWorks(async () => {
    await rm(parent, { recursive: true, force: true });
    await mkdir(parent, { mode: 0o700 });
  });

  /** A git folder with nothing but the name of the last commit. */
  async function makeGitDir({ commit, exclude, attributes }: OpenRepository): Promise<string> {
    await swept();
    const folder = await mkdtemp(join(parent, 'view-'));
    await Promise.all([
      mkdir(join(folder, 'refs')),
      mkdir(join(folder, 'info')).then(() =>
        Promise.all([
          writeFile(join(folder, 'info/exclude'), exclude),
          writeFile(join(folder, 'info/attributes'), attributes),
        ]),
      ),
      writeFile(join(folder, 'HEAD'), commit === undefined ? 'ref: refs/heads/none\n' : `${commit}\n`),
      writeFile(join(folder, 'config'), commit?.length === 64 ? LONG_HASHES : SHORT_HASHES),
    ]);
    return folder;
  }

  return async (repository, { program, args, maxBytes, signal }) => {
    const gitDir = await makeGitDir(repository);
    try {
      return await runGit({ program, args, cwd: repository.root.way, gitDir, repository, maxBytes, signal });
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  };
}

const SHORT_HASHES = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';
const LONG_HASHES = '[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n';
