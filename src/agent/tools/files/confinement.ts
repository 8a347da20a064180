import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Workdir } from '../workdir.ts';
import type { HeldFolder } from './held-folder.ts';
import { isSecretPath } from './secret-path.ts';
import { findStraight } from './walk.ts';

/** Where file tools may go. */
export interface Confinement {
  /** Resolves every link of `path`, relative to the working directory, and checks where it leads. */
  locate(path: string, workdir: Workdir): Promise<Place>;
}

type Place = AllowedPlace | { kind: 'refused'; reason: string };

export interface AllowedPlace {
  kind: 'allowed';
  /** Absolute and free of links when it was checked; the last parts may not exist. */
  path: string;
  /** For people: relative to the workdir if inside it. */
  shown: string;
  exists: boolean;
  /** Outside the working directory. */
  isOutside: boolean;
  /** The folder around it in which reading is free; undefined elsewhere. */
  base: HeldFolder | undefined;
  /** Its name looks like a credential file, or `isHardLink` is true. */
  isSecret: boolean;
  /** The file has other names, perhaps a secret one elsewhere, so its path does not show what it is. */
  isHardLink: boolean;
}

/**
 * Confines file tools to the workdir. Outside it they need approval; in Headgate's home and in the kernel's folders
 * they are refused.
 */
export function createConfinement({ home }: { home: string }): Confinement {
  return {
    async locate(path, workdir) {
      const misspelling = findMisspelling(path);
      if (misspelling !== undefined) return { kind: 'refused', reason: misspelling };
      const { folder } = workdir;
      const requested = resolve(folder.path, path);
      const [real, realHome] = await Promise.all([
        locateFrom(folder, requested),
        realpath(home).catch(() => resolve(home)), // not created yet
      ]);
      if (real.kind === 'refused') return { kind: 'refused', reason: `${path} ${real.why}` };
      const problem = findBarrier(real.path, { workdir: folder.path, home: realHome });
      if (problem !== undefined) return { kind: 'refused', reason: `${path} ${problem}` };
      const isInWorkdir = isInside(folder.path, real.path);
      const isHardLink = real.exists && (await hasFurtherNames(real.path));
      const shown = isInWorkdir ? relative(folder.path, real.path) || '.' : real.path;
      return {
        kind: 'allowed',
        path: real.path,
        shown,
        exists: real.exists,
        isOutside: !isInWorkdir,
        base: [folder, ...workdir.readable].find((root) => isInside(root.path, real.path)),
        // The requested name counts too: `.env` may be a link to a file with a harmless name.
        isSecret: isHardLink || isSecretPath(shown) || isSecretPath(relative(folder.path, requested)),
        isHardLink,
      };
    },
  };
}

/** Resolves from the held folder and not from its path, so a link or another folder at that path has no effect. */
async function locateFrom(folder: HeldFolder, requested: string): Promise<Followed> {
  if (!isInside(folder.path, requested)) return followLinks(requested);
  const straight = await findStraight(folder, requested);
  if (straight) return { kind: 'followed', path: requested, exists: straight.exists };
  const followed = await followLinks(join(folder.way, relative(folder.path, requested)));
  return (await folder.isInPlace()) ? followed : { kind: 'refused', why: 'is in a folder that was moved meanwhile.' };
}

async function hasFurtherNames(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined); // removed since; opening it fails later
  return stats !== undefined && isHardLinked(stats);
}

/** Folders always have several links; for a file, every link is another name. */
export const isHardLinked = (stats: Stats): boolean => stats.isFile() && stats.nlink > 1;

/** True for the folder itself and everything below it. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** These contain the daemon's environment and memory, and devices. */
const KERNEL = ['/proc', '/sys', '/dev'];

function findMisspelling(path: string): string | undefined {
  if (path === '') return 'The path is empty.';
  return path.includes('\0') ? 'The path contains a NUL character.' : undefined;
}

function findBarrier(path: string, { workdir, home }: { workdir: string; home: string }): string | undefined {
  const isWorkspace = workdir !== home && isInside(home, workdir) && isInside(workdir, path);
  if (isInside(home, path) && !isWorkspace) return 'belongs to Headgate itself; tools cannot access it.';
  return KERNEL.some((folder) => isInside(folder, path)) ? 'is not an ordinary file or folder.' : undefined;
}

type Followed = { kind: 'followed'; path: string; exists: boolean } | { kind: 'refused'; why: string };

/** The real path of the nearest existing ancestor, plus the remaining parts unchanged. */
async function followLinks(path: string): Promise<Followed> {
  try {
    return { kind: 'followed', path: await realpath(path), exists: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOENT') return { kind: 'refused', why: `cannot be reached (${code}).` };
  }
  // A dangling link exists; writing through it would create a file at its target.
  const isThere = await lstat(path).then(
    () => true,
    () => false, // does not exist
  );
  if (isThere) return { kind: 'refused', why: 'is a dangling link.' };
  const parent = await followLinks(dirname(path));
  return parent.kind === 'refused'
    ? parent
    : { kind: 'followed', path: join(parent.path, basename(path)), exists: false };
}
