import type {
  ChangedRepository,
  FilePart,
  FoundFiles,
  GitDiff,
  ListedFolder,
} from '../../../protocol/methods/conversation/file.ts';
import type { Clock } from '../../clock.ts';
import type { WantedContent } from '../checkpoints/keep-file.ts';
import type { Program } from '../process/programs.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import type { Workdir } from '../tools/workdir.ts';

export interface ListRange {
  offset: number;
  limit: number;
}

export interface LineRange {
  /** The first line, from 1. */
  offset: number;
  limit: number;
}

/** Which change of a file is compared. */
export interface AskedDiff {
  path: string;
  /** Undefined: all since the last commit. */
  part: 'staged' | 'unstaged' | undefined;
}

/** A changed file that a person wants to put back, and what the person saw (`seen` of the diff). */
export interface AskedBack {
  path: string;
  seen: string;
}

/** What a file was in the last commit, for putting it back. */
export interface CommittedFile {
  /** The folder that is the root of the repository, and the path below it. */
  root: HeldFolder;
  path: string;
  /** The path as it is shown to people. */
  shown: string;
  /** The mark of what the person saw on the disk. */
  seen: string;
  wanted: WantedContent;
}

/** The files of workstreams, for people. Nothing is changed. Throws `WorkspaceProblem`. */
export interface Workspace {
  list(workdir: Workdir, path: string, range: ListRange): Promise<ListedFolder>;
  find(workdir: Workdir, query: string, limit: number): Promise<FoundFiles>;
  read(workdir: Workdir, path: string, range: LineRange): Promise<FilePart>;
  changes(workdir: Workdir, signal: AbortSignal): Promise<ChangedRepository[]>;
  diff(workdir: Workdir, asked: AskedDiff, signal: AbortSignal): Promise<GitDiff>;
  /** What a changed file was in the last commit. */
  committed(workdir: Workdir, asked: AskedBack, signal: AbortSignal): Promise<CommittedFile>;
}

/** What looks at files need. */
export interface WorkspaceDeps {
  home: string;
  clock: Clock;
  /** Where search-worker lies in this build. */
  searchWorkerUrl: URL;
  programs: { rg: Program; git: Program };
}

/** Why a file cannot be shown; `missing` also for what lies outside, so that nobody can probe for it; `changed`: since a look. */
export class WorkspaceProblem extends Error {
  readonly kind: 'missing' | 'wrong_kind' | 'changed';

  constructor(kind: WorkspaceProblem['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
