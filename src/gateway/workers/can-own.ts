import { labelWords } from '../../../protocol/cluster/machine-labels.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';

/** The columns that decide which machines can have a workstream. */
export type Placed = Pick<WorkstreamTable, 'machine_labels' | 'workdir' | 'workdir_ino'>;

/** A machine, as it decides about workstreams. */
export interface Owner {
  labels: readonly string[];
  /** The folder at a path, checked like any other; rejects if there is none. */
  identify(path: string): Promise<FolderIdentity>;
}

/** Why a machine cannot have a workstream. */
export type Obstacle = { reason: 'labels'; missingLabels: string[] } | { reason: 'folder'; workdir: string };

/**
 * Returns why this machine cannot have a workstream that another one has or had; undefined if it can. It needs all labels of
 * the workstream, and the same folder at the same path.
 */
export async function findObstacle(workstream: Placed, owner: Owner): Promise<Obstacle | undefined> {
  const missing = missingLabels(labelsIn(workstream.machine_labels), owner.labels);
  if (missing.length > 0) return { reason: 'labels', missingLabels: missing };
  const { workdir, workdir_ino } = workstream;
  const found = await owner.identify(workdir).catch(() => undefined); // there is none
  const isHere = found !== undefined && (workdir_ino === null || found.ino === workdir_ino);
  return isHere ? undefined : { reason: 'folder', workdir };
}

/** What a machine lacks, after "does not have". */
export const lackedBy = (obstacle: Obstacle): string =>
  obstacle.reason === 'folder'
    ? `the same folder ${obstacle.workdir} (path and inode)`
    : `the ${labelWords(obstacle.missingLabels)}`;

/** The labels that a machine lacks. */
export const missingLabels = (needed: readonly string[], has: readonly string[]): string[] =>
  needed.filter((label) => !has.includes(label));

/** Labels as they are stored. Labels contain no commas. */
export const toLabelColumn = (labels: readonly string[] = []): string | null =>
  labels.length === 0 ? null : labels.join(',');

/** The labels in a column that `toLabelColumn` made. */
export const labelsIn = (column: string | null): string[] => column?.split(',') ?? [];
