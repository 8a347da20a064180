import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** Whether a folder and all above it are on disks of this machine. False if that cannot be told. */
export async function isOnLocalDisks(folder: string): Promise<boolean> {
  const folders = [folder];
  for (let parent = path.dirname(folder); parent !== folders.at(-1); parent = path.dirname(parent))
    folders.push(parent);
  const types = await Promise.all(folders.map((each) => statfs(each).then(({ type }) => type, unknown)));
  return types.every((type) => LOCAL.has(type));
}

const unknown = () => Number.NaN;

/** The numbers by which Linux names file systems of local disks and of memory (`man 2 statfs`). */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xca451a4e, // bcachefs
  0xf2f52010, // F2FS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs, as in containers
]);
