import { GatewayError } from '../../../protocol/errors.ts';
import type { SnapshotRoot } from '../../agent/checkpoints/snapshot.ts';
import { isInside } from '../../agent/tools/files/confinement.ts';
import type { FolderIdentity, HeldFolder } from '../../agent/tools/files/held-folder.ts';
import type { Workdir } from '../../agent/tools/workdir.ts';

/** The folders that a snapshot is taken of: the working directory first, and added folders that are not in another one. */
export function rootsOf({ folder, readable }: Workdir): HeldFolder[] {
  const roots = [folder];
  for (const added of readable) {
    const isCovered = [folder, ...readable].some((other) => other !== added && isInside(other.path, added.path));
    if (!isCovered) roots.push(added);
  }
  return roots;
}

export const toSnapshotRoot = ({ path, way }: HeldFolder): SnapshotRoot => ({ path, way });

/** Whether the workstream still has the folders that snapshots were taken of. */
export const areHeld = (roots: readonly FolderIdentity[], workdir: Workdir): boolean =>
  roots.every((root) => findHeld(root, workdir) !== undefined);

const findHeld = ({ path, ino }: FolderIdentity, { folder, readable }: Workdir): HeldFolder | undefined =>
  [folder, ...readable].find((held) => held.path === path && held.ino === ino);

/** The held folders that snapshots were taken of. Throws CONFLICT if one of them is another folder by now, or no longer held. */
export function heldAgain(roots: readonly FolderIdentity[], workdir: Workdir): SnapshotRoot[] {
  return roots.map((root) => {
    const same = findHeld(root, workdir);
    if (same) return toSnapshotRoot(same);
    throw new GatewayError(
      'CONFLICT',
      `${root.path} is no longer the folder that the run changed, or no longer belongs to the workstream. Nothing was changed.`,
    );
  });
}
