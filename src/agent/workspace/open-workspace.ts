import { onceItWorks } from '../../timing/once.ts';
import type { Workspace, WorkspaceDeps } from './workspace.ts';

type Load = () => Promise<{ createFilesInFolders(deps: WorkspaceDeps): Workspace }>;

/** Loads what looks at files at the first look: most starts need none of it. */
export function createWorkspace(deps: WorkspaceDeps, load: Load): Workspace {
  const loaded = onceItWorks(async () => {
    const { createFilesInFolders } = await load();
    return createFilesInFolders(deps);
  });
  return {
    list: async (...asked) => (await loaded()).list(...asked),
    find: async (...asked) => (await loaded()).find(...asked),
    read: async (...asked) => (await loaded()).read(...asked),
    changes: async (...asked) => (await loaded()).changes(...asked),
    diff: async (...asked) => (await loaded()).diff(...asked),
    committed: async (...asked) => (await loaded()).committed(...asked),
  };
}
