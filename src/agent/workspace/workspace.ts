import type {
  ChangedRepository,
  FilePart,
  FoundFiles,
  GitDiff,
  ListedFolder,
} from '../../../protocol/methods/conversation/file.ts';
import type { Clock } from '../../clock.ts';
import type { Program } from '../process/programs.ts';
import { createConfinement } from '../tools/files/confinement.ts';
import type { Workdir } from '../tools/workdir.ts';
import { createFinder } from './find-files.ts';
import { GitView } from './git/git-view.ts';
import { type ListRange, listFolder } from './list-folder.ts';
import type { AskedDiff } from './place.ts';
import { type LineRange, readPart } from './read-part.ts';

/** The files of workstreams, for people. Nothing is changed. Throws `WorkspaceProblem`. */
export interface Workspace {
  list(workdir: Workdir, path: string, range: ListRange): Promise<ListedFolder>;
  find(workdir: Workdir, query: string, limit: number): Promise<FoundFiles>;
  read(workdir: Workdir, path: string, range: LineRange): Promise<FilePart>;
  changes(workdir: Workdir, signal: AbortSignal): Promise<ChangedRepository[]>;
  diff(workdir: Workdir, asked: AskedDiff, signal: AbortSignal): Promise<GitDiff>;
}

interface WorkspaceDeps {
  home: string;
  clock: Clock;
  /** Where search-worker lies in this build. */
  searchWorkerUrl: URL;
  programs: { rg: Program; git: Program };
}

export function createWorkspace({ home, clock, searchWorkerUrl, programs }: WorkspaceDeps): Workspace {
  const confinement = createConfinement({ home });
  const finder = createFinder({ confinement, clock, workerUrl: searchWorkerUrl, ripgrep: pathOf(programs.rg) });
  const git = new GitView({ home, confinement, clock, git: pathOf(programs.git) });
  return {
    list: (workdir, path, range) => listFolder({ confinement, workdir, path }, range),
    find: (workdir, query, limit) => finder.find(workdir, query, limit),
    read: (workdir, path, range) => readPart({ confinement, workdir, path }, range),
    changes: (workdir, signal) => git.changes(workdir, signal),
    diff: (workdir, asked, signal) => git.diff(workdir, asked, signal),
  };
}

const pathOf = (program: Program): string | undefined => (program.kind === 'found' ? program.path : undefined);
