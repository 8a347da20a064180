import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { AllowedPlace, Confinement } from '../tools/files/confinement.ts';
import { ToolProblem } from '../tools/tool-problem.ts';
import type { Workdir } from '../tools/workdir.ts';
import { WorkspaceProblem } from './workspace.ts';

/** A path as a person or the page names it, in the folders of a workstream. */
export interface Asked {
  confinement: Confinement;
  workdir: Workdir;
  path: string;
}

/** A place in a folder of the workstream. */
export type HeldPlace = AllowedPlace & { base: NonNullable<AllowedPlace['base']> };

export const missing = (path: string): WorkspaceProblem =>
  new WorkspaceProblem('missing', `${toVisibleLine(path)}: no such file in the folders of this workstream.`);

/** Resolves every link, and refuses what lies outside the folders of the workstream. */
export async function placeOf({ confinement, workdir, path }: Asked): Promise<HeldPlace> {
  const place = await confinement.locate(path, workdir);
  if (place.kind === 'refused' || !place.exists || place.base === undefined) throw missing(path);
  return { ...place, base: place.base };
}

/** Runs `work`; its problems become those of this interface. */
export async function asProblem<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolProblem) throw new WorkspaceProblem('wrong_kind', error.message);
    throw error;
  }
}
