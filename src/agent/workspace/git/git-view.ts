import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { ChangedRepository, GitDiff } from '../../../../protocol/methods/conversation/file.ts';
import type { Clock } from '../../../clock.ts';
import { once } from '../../../timing/once.ts';
import { withDeadline } from '../../process/deadline.ts';
import { StopReason } from '../../stop-reason.ts';
import { type Confinement, isInside } from '../../tools/files/confinement.ts';
import type { HeldFolder } from '../../tools/files/held-folder.ts';
import type { Workdir } from '../../tools/workdir.ts';
import { missing } from '../place.ts';
import type { AskedDiff } from '../workspace.ts';
import { diffOf, type SideReader } from './diff-file.ts';
import { parseStatus, type StatusLine } from './parse-status.ts';
import { type OpenRepository, openRepository } from './repository.ts';
import { type GitOutput, type GitRun, runGit } from './run-git.ts';

interface GitViewDeps {
  /** Private git folders are made here, where no command in a sandbox can write. */
  home: string;
  confinement: Confinement;
  clock: Clock;
  git: string | undefined;
}

const DEADLINE_MS = 15_000;
const MOST_STATUS_BYTES = 2 * 1024 * 1024;
const MOST_FILES = 2_000;

/**
 * What git knows about the folders of workstreams. Git reads the index and the objects of a repository, but never its
 * configuration: that can name programs, such as filters, which would then run outside the sandbox (decision 142).
 */
export function createGitView(deps: GitViewDeps) {
  const { confinement, clock, git } = deps;
  const parent = join(deps.home, 'git');
  /** A daemon that was killed may have left some. */
  const swept = once(async () => {
    await rm(parent, { recursive: true, force: true });
    await mkdir(parent, { mode: 0o700 });
  });

  async function statusOf(
    root: HeldFolder,
    workdir: Workdir,
    signal: AbortSignal,
  ): Promise<ChangedRepository | undefined> {
    const repository = await openRepository({ root, workdir, confinement });
    if (repository === undefined) return undefined;
    const path = shownRoot(root, workdir);
    if (repository === 'elsewhere') return { path, files: [], complete: true, without: 'elsewhere' };
    await using open = repository;
    const { branch } = open;
    const named = { path, ...(branch !== undefined && { branch }) };
    const program = programFor(workdir);
    if (program === undefined) return { ...named, files: [], complete: true, without: 'no_git' };
    const found = await readStatus(open, { program, only: [], signal });
    if (!found) return { ...named, files: [], complete: false, without: 'failed' };
    const files = found.lines.slice(0, MOST_FILES).map(({ head: _, index: __, path: below, ...kinds }) => ({
      path: shownBelow(root, workdir, below),
      ...kinds,
    }));
    return { ...named, files, complete: !found.isCut && found.lines.length <= MOST_FILES };
  }

  /** A program that lies in a folder of the workstream could be one that a command put there. */
  const programFor = ({ folder, readable }: Workdir): string | undefined =>
    git !== undefined && [folder, ...readable].some(({ path }) => isInside(path, git)) ? undefined : git;

  async function readStatus(
    repository: OpenRepository,
    { program, only, signal }: { program: string; only: readonly string[]; signal: AbortSignal },
  ): Promise<{ lines: StatusLine[]; isCut: boolean } | undefined> {
    using deadline = withDeadline(signal, { clock, ms: DEADLINE_MS });
    const args = [...STATUS, '--', ...only];
    try {
      const out = await inPrivate(repository, { program, args, maxBytes: MOST_STATUS_BYTES, signal: deadline.signal });
      return out.code === 0 || out.isCut ? { lines: parseStatus(out.bytes), isCut: out.isCut } : undefined;
    } catch (error) {
      if (error instanceof StopReason && !signal.aborted) return undefined;
      throw error;
    }
  }

  async function inPrivate(
    repository: OpenRepository,
    run: Pick<GitRun, 'program' | 'args' | 'maxBytes' | 'signal'>,
  ): Promise<GitOutput> {
    const { program, args, maxBytes, signal } = run;
    const gitDir = await makePrivate(repository);
    try {
      return await runGit({ program, args, cwd: repository.root.way, gitDir, repository, maxBytes, signal });
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  }

  /** A git folder with nothing but the name of the last commit. */
  async function makePrivate({ commit, exclude }: OpenRepository): Promise<string> {
    await swept();
    const folder = await mkdtemp(join(parent, 'view-'));
    await Promise.all([
      mkdir(join(folder, 'refs')),
      mkdir(join(folder, 'info')).then(() => writeFile(join(folder, 'info/exclude'), exclude)),
      writeFile(join(folder, 'HEAD'), commit === undefined ? 'ref: refs/heads/none\n' : `${commit}\n`),
      writeFile(join(folder, 'config'), commit?.length === 64 ? LONG_HASHES : SHORT_HASHES),
    ]);
    return folder;
  }

  return {
    async changes(workdir: Workdir, signal: AbortSignal): Promise<ChangedRepository[]> {
      const found: ChangedRepository[] = [];
      for (const root of rootsOf(workdir)) {
        const repository = await statusOf(root, workdir, signal);
        if (repository) found.push(repository);
      }
      return found;
    },

    async diff(workdir: Workdir, asked: AskedDiff, signal: AbortSignal): Promise<GitDiff> {
      const root = rootFor(asked.path, workdir);
      const repository = await openRepository({ root, workdir, confinement });
      const program = programFor(workdir);
      if (repository === undefined || repository === 'elsewhere' || program === undefined) throw missing(asked.path);
      await using open = repository;
      const only = [relative(root.path, resolve(workdir.folder.path, asked.path))];
      const status = await readStatus(open, { program, only, signal });
      const line = status?.lines.find(({ path }) => path === only[0]);
      if (!line) throw missing(asked.path);
      using deadline = withDeadline(signal, { clock, ms: DEADLINE_MS });
      const reader: SideReader = {
        object: async (name, maxBytes) => {
          const args = ['cat-file', 'blob', name];
          const out = await inPrivate(open, { program, args, maxBytes, signal: deadline.signal });
          return out.isCut ? 'large' : out.code === 0 ? out.bytes : undefined;
        },
        asked: { confinement, workdir, path: join(root.path, line.path) },
      };
      return diffOf(line, asked, reader);
    },
  };
}

const STATUS = [
  'status',
  ...['--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=all', '--no-ahead-behind'],
];

/** The working directory, and added folders that are not in it. */
const rootsOf = ({ folder, readable }: Workdir): HeldFolder[] => [
  folder,
  ...readable.filter(({ path }) => !isInside(folder.path, path)),
];

function rootFor(path: string, workdir: Workdir): HeldFolder {
  return rootsOf(workdir).find((root) => root !== workdir.folder && isInside(root.path, path)) ?? workdir.folder;
}

const shownRoot = (root: HeldFolder, { folder }: Workdir): string => (root === folder ? '.' : root.path);

const shownBelow = (root: HeldFolder, { folder }: Workdir, below: string): string =>
  root === folder ? relative(folder.path, join(folder.path, below)) : join(root.path, below);

const SHORT_HASHES = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';
const LONG_HASHES = '[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n';
