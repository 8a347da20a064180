import { join, relative, resolve } from 'node:path';
import type { ChangedRepository, GitDiff } from '../../../../protocol/methods/conversation/file.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Clock } from '../../../clock.ts';
import { withDeadline } from '../../process/deadline.ts';
import { StopReason } from '../../stop-reason.ts';
import { type Confinement, isInside } from '../../tools/files/confinement.ts';
import type { HeldFolder } from '../../tools/files/held-folder.ts';
import type { Workdir } from '../../tools/workdir.ts';
import { type Asked, missing } from '../place.ts';
import { type AskedBack, type AskedDiff, type CommittedFile, WorkspaceProblem } from '../workspace.ts';
import { committedOf } from './committed-file.ts';
import { diffOf, type SideReader } from './diff-file.ts';
import { parseStatus, type StatusLine } from './parse-status.ts';
import { createPrivateGit, type PrivateGit } from './private-git.ts';
import { type OpenRepository, openRepository } from './repository.ts';
import type { GitOutput } from './run-git.ts';

interface GitViewDeps {
  home: string;
  confinement: Confinement;
  clock: Clock;
  git: string | undefined;
}

/** A changed file, and git in its repository. */
interface ChangedFile {
  root: HeldFolder;
  line: StatusLine;
  shown: string;
  file: Asked;
  git(args: readonly string[], maxBytes: number): Promise<GitOutput>;
}

type GitProblem = NonNullable<ChangedRepository['without']> | 'unchanged';

interface Looking<T> {
  signal: AbortSignal;
  work(file: ChangedFile): Promise<T>;
  problem?(why: GitProblem): WorkspaceProblem;
}

const DEADLINE_MS = 15_000;
const MOST_STATUS_BYTES = 2 * 1024 * 1024;
const MOST_FILES = 2_000;

/** What git knows about the folders of workstreams. */
export class GitView {
  readonly #confinement: Confinement;
  readonly #clock: Clock;
  readonly #program: string | undefined;
  readonly #git: PrivateGit;

  constructor({ home, confinement, clock, git }: GitViewDeps) {
    this.#confinement = confinement;
    this.#clock = clock;
    this.#program = git;
    this.#git = createPrivateGit(join(home, 'git'));
  }

  async changes(workdir: Workdir, signal: AbortSignal): Promise<ChangedRepository[]> {
    const found: ChangedRepository[] = [];
    for (const root of rootsOf(workdir)) {
      const repository = await this.#changesIn(root, workdir, signal);
      if (repository) found.push(repository);
    }
    return found;
  }

  async diff(workdir: Workdir, asked: AskedDiff, signal: AbortSignal): Promise<GitDiff> {
    return this.#withLine(workdir, asked.path, {
      signal,
      work({ line, shown, file, git }) {
        const reader: SideReader = {
          object: async (name, maxBytes) => {
            const out = await git(['cat-file', 'blob', name], maxBytes);
            return out.isCut ? 'large' : out.code === 0 ? out.bytes : undefined;
          },
          asked: file,
        };
        return diffOf(line, { ...asked, path: shown }, reader);
      },
    });
  }

  async committed(workdir: Workdir, { path, seen }: AskedBack, signal: AbortSignal): Promise<CommittedFile> {
    return this.#withLine(workdir, path, {
      signal,
      async work({ root, line, shown, file, git }) {
        const found = await committedOf(line, { shown, seen }, { git, asked: file });
        return { root, path: line.path, shown, ...found };
      },
      problem: (why) => problemOf(why, path),
    });
  }

  /** Looks at one changed file. Without `problem`, whatever git does not report is missing. */
  async #withLine<T>(
    workdir: Workdir,
    path: string,
    { signal, work, problem = () => missing(path) }: Looking<T>,
  ): Promise<T> {
    const whole = resolve(workdir.folder.path, path);
    const root = rootFor(whole, workdir);
    const below = relative(root.path, whole);
    const confinement = this.#confinement;
    if (below === '' || !isInside(root.path, whole)) throw missing(path);
    const repository = await openRepository({ root, workdir, confinement });
    if (repository === undefined) throw missing(path);
    if (repository === 'elsewhere') throw problem('elsewhere');
    await using open = repository;
    const program = this.#programFor(workdir);
    if (program === undefined) throw problem('no_git');
    const status = await this.#status(open, { program, only: [below], signal });
    if (!status) throw problem('failed');
    const line = status.lines.find((each) => each.path === below);
    if (!line) throw problem('unchanged');
    using deadline = withDeadline(signal, { clock: this.#clock, ms: DEADLINE_MS });
    return await work({
      root,
      line,
      shown: shownIn(root, line.path, workdir),
      file: { confinement, workdir, path: join(root.path, line.path) },
      git: (args, maxBytes) => this.#git(open, { program, args, maxBytes, signal: deadline.signal }),
    });
  }

  async #changesIn(root: HeldFolder, workdir: Workdir, signal: AbortSignal): Promise<ChangedRepository | undefined> {
    const repository = await openRepository({ root, workdir, confinement: this.#confinement });
    if (repository === undefined) return undefined;
    const path = root === workdir.folder ? '.' : root.path;
    if (repository === 'elsewhere') return { path, files: [], complete: true, without: 'elsewhere' };
    await using open = repository;
    const named = { path, ...(open.branch !== undefined && { branch: open.branch }) };
    const program = this.#programFor(workdir);
    if (program === undefined) return { ...named, files: [], complete: true, without: 'no_git' };
    const found = await this.#status(open, { program, only: [], signal });
    if (!found) return { ...named, files: [], complete: true, without: 'failed' };
    const files = found.lines.slice(0, MOST_FILES).map(({ path: below, staged, unstaged }) => ({
      path: shownIn(root, below, workdir),
      ...(staged && { staged }),
      ...(unstaged && { unstaged }),
    }));
    return { ...named, files, complete: !found.isCut && found.lines.length <= MOST_FILES };
  }

  /** A program that lies in a folder of the workstream could be one that a command put there. */
  #programFor({ folder, readable }: Workdir): string | undefined {
    const program = this.#program;
    return program !== undefined && [folder, ...readable].some(({ path }) => isInside(path, program))
      ? undefined
      : program;
  }

  /** Undefined if git fails or takes too long. */
  async #status(
    repository: OpenRepository,
    { program, only, signal }: { program: string; only: readonly string[]; signal: AbortSignal },
  ): Promise<{ lines: StatusLine[]; isCut: boolean } | undefined> {
    using deadline = withDeadline(signal, { clock: this.#clock, ms: DEADLINE_MS });
    const run = { program, args: [...STATUS, '--', ...only], maxBytes: MOST_STATUS_BYTES, signal: deadline.signal };
    try {
      const out = await this.#git(repository, run);
      return out.code === 0 || out.isCut ? { lines: parseStatus(out.bytes), isCut: out.isCut } : undefined;
    } catch (error) {
      if (error instanceof StopReason && !signal.aborted) return undefined;
      throw error;
    }
  }
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

/** As `file.changes` and `file.list` name it. */
const shownIn = (root: HeldFolder, below: string, workdir: Workdir): string =>
  root === workdir.folder ? below : join(root.path, below);

/** The path is absolute. */
const rootFor = (path: string, workdir: Workdir): HeldFolder =>
  rootsOf(workdir).find((root) => root !== workdir.folder && isInside(root.path, path)) ?? workdir.folder;

const PROBLEMS: Readonly<Record<Exclude<GitProblem, 'unchanged'>, string>> = {
  elsewhere: 'A part of the repository lies outside the folders of this workstream. Nothing was changed.',
  no_git: 'Git is not installed on the machine of the daemon. Nothing was changed.',
  failed: 'Git could not read the repository, or took too long. Nothing was changed.',
};

const problemOf = (why: GitProblem, path: string): WorkspaceProblem =>
  why === 'unchanged'
    ? new WorkspaceProblem('changed', `Git reports no change of ${toVisibleLine(path)}. Look at the changes again.`)
    : new WorkspaceProblem('wrong_kind', PROBLEMS[why]);
