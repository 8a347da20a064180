import { realpath } from 'node:fs/promises';
import { type AllowedPlace, createConfinement } from '../agent/tools/files/confinement.ts';
import { type HeldFolder, holdFolder } from '../agent/tools/files/held-folder.ts';
import { CommandProblem } from './lent-command.ts';

/** The folders whose files are lent. */
export interface Folders {
  /** Real path of the first folder; relative paths start there. */
  first: string | undefined;
  /** Real paths of all folders. */
  all: readonly string[];
  /** Follows every link; rejects with CommandProblem for a place outside all folders. */
  locate(path: string): Promise<AllowedPlace>;
}

/** `homes` are never lent, even inside a lent folder: they hold credentials. */
export async function openFolders(paths: readonly string[], homes: readonly string[]): Promise<Folders> {
  const folders = await Promise.all(paths.map(async (path) => holdFolder(await realpath(path))));
  const confinements = homes.map((home) => createConfinement({ home }));

  /** Undefined if the place is outside this folder or in a home. */
  async function locateIn(folder: HeldFolder, path: string): Promise<AllowedPlace | undefined> {
    const places = await Promise.all(
      confinements.map((confinement) => confinement.locate(path, { folder, readable: [] })),
    );
    const allowed = places.flatMap((place) => (place.kind === 'allowed' && !place.isOutside ? [place] : []));
    return allowed.length === places.length ? allowed[0] : undefined;
  }

  return {
    first: folders[0]?.path,
    all: folders.map(({ path }) => path),
    async locate(path) {
      for (const folder of folders) {
        const place = await locateIn(folder, path);
        if (place !== undefined) return place;
      }
      throw new CommandProblem('FORBIDDEN', `${path.slice(0, 200)} is not in a folder that this node lends`);
    },
  };
}
