import path from 'node:path';
import type { FileLooks } from '../tools/files/file-looks.ts';

/** More folders than this between a working directory and the root of its repository are not looked at. */
const MAX_LEVELS = 20;

export interface ProjectFolders {
  /** Nearest first: from the working directory up to the root of its repository. Only it, if it is in none. */
  folders: string[];
  /** The root of the repository; undefined outside of one. */
  root: string | undefined;
}

/** The folders of the project of a working directory. */
export async function findProjectFolders(workdir: string, looks: FileLooks): Promise<ProjectFolders> {
  const folders = [workdir];
  for (let parent = path.dirname(workdir); folders.length <= MAX_LEVELS && parent !== folders.at(-1); ) {
    folders.push(parent);
    parent = path.dirname(parent);
  }
  // All at once: every run waits for this.
  const areRoots = await Promise.all(folders.map((folder) => looks.isThere(path.join(folder, '.git'))));
  const at = areRoots.indexOf(true);
  return at < 0 ? { folders: [workdir], root: undefined } : { folders: folders.slice(0, at + 1), root: folders[at] };
}
