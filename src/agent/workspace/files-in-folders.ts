import type { Program } from '../process/programs.ts';
import { createConfinement } from '../tools/files/confinement.ts';
import { createFinder } from './find-files.ts';
import { GitView } from './git/git-view.ts';
import { listFolder } from './list-folder.ts';
import { readPart } from './read-part.ts';
import type { Workspace, WorkspaceDeps } from './workspace.ts';

/** The files of workstreams. */
export function createFilesInFolders({ home, clock, searchWorkerUrl, programs }: WorkspaceDeps): Workspace {
  const confinement = createConfinement({ home });
  const finder = createFinder({ confinement, clock, workerUrl: searchWorkerUrl, ripgrep: pathOf(programs.rg) });
  const git = new GitView({ home, confinement, clock, git: pathOf(programs.git) });
  return {
    list: (workdir, path, range) => listFolder({ confinement, workdir, path }, range),
    find: (workdir, query, limit) => finder.find(workdir, query, limit),
    read: (workdir, path, range) => readPart({ confinement, workdir, path }, range),
    changes: (workdir, signal) => git.changes(workdir, signal),
    diff: (workdir, asked, signal) => git.diff(workdir, asked, signal),
    committed: (workdir, asked, signal) => git.committed(workdir, asked, signal),
  };
}

const pathOf = (program: Program): string | undefined => (program.kind === 'found' ? program.path : undefined);
