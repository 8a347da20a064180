import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { isInside } from '../tools/files/confinement.ts';
import { type HeldFolder, wayOf } from '../tools/files/held-folder.ts';
import { O_PATH, openBelow } from '../tools/files/walk.ts';

/** What is mounted over itself, held open: by its descriptor, the sandbox finds out whether it was exchanged meanwhile. */
export interface HeldPath {
  /** Relative to the root, without links on the way. */
  name: string;
  fd: number;
}

/**
 * Holds what is at these names of a root. A name with a link on its way stands for what that leads to; what lies outside the
 * root, where commands cannot write, is left out.
 */
export async function holdPaths(
  root: HeldFolder,
  names: readonly string[],
): Promise<{ held: HeldPath[]; close(): Promise<void> }> {
  const handles: FileHandle[] = [];
  const close = async () => {
    await Promise.all(handles.splice(0).map((handle) => handle.close()));
  };
  const folders = openFolders(root);
  const hold = async (name: string): Promise<HeldPath> => {
    const handle = await open(join(await folders.wayTo(dirname(name)), basename(name)), O_PATH | constants.O_NOFOLLOW);
    handles.push(handle);
    return { name, fd: handle.fd };
  };
  const holdReal = async (name: string): Promise<HeldPath | undefined> => {
    const real = await inRoot(root, name);
    return real === undefined ? undefined : hold(real);
  };
  const found = await Promise.allSettled(names.map((name) => hold(name).catch(() => holdReal(name))));
  await folders.close();
  const failed = found.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  const held = found.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
  return { held: [...new Map(held.map((each) => [each.name, each])).values()], close };
}

export type OpenedFolders = ReturnType<typeof openFolders>;

/** Folders in a root, each opened once and step by step, so that no link is on the way. */
export function openFolders(root: HeldFolder) {
  const opened = new Map<string, Promise<FileHandle | undefined>>();
  return {
    async wayTo(folder: string): Promise<string> {
      if (folder === '.') return root.way;
      const path = join(root.path, folder);
      const opening = opened.get(folder) ?? openBelow({ base: root, path }, O_PATH | constants.O_DIRECTORY);
      opened.set(folder, opening);
      const handle = await opening;
      if (handle === undefined) throw new Error(`${path} cannot be held on this system`);
      return wayOf(handle);
    },
    async close(): Promise<void> {
      for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close();
    },
  };
}

/** The same place by a name without links; undefined if it does not lie in the root. */
async function inRoot(root: HeldFolder, name: string): Promise<string | undefined> {
  const [top, real] = await Promise.all([realpath(root.way), realpath(join(root.way, name))]);
  return isInside(top, real) && real !== top ? relative(top, real) : undefined;
}

/** For reading a regular file that a command may have made: a pipe would block, and a link could lead anywhere. */
export const SAFE_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
