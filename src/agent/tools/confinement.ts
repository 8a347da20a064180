import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isSecretPath } from './secret-path.ts';

/** Where file tools may go. */
export interface Confinement {
  /** Follows every link of `path`, taken from the workdir, and says what may be done there. */
  locate(path: string, workdir: string): Promise<Place>;
}

type Place = AllowedPlace | { kind: 'refused'; reason: string };

export interface AllowedPlace {
  kind: 'allowed';
  /** Absolute and free of links when it was looked at; its last parts may not exist. */
  path: string;
  /** For people: relative to the workdir where it lies inside. */
  shown: string;
  exists: boolean;
  isOutside: boolean;
  isSecret: boolean;
}

/** Confines file tools to the workdir: outside it they ask, in Headgate's home and in the kernel's folders they never go. */
export function createConfinement({ home }: { home: string }): Confinement {
  return {
    async locate(path, workdir) {
      const misspelling = findMisspelling(path);
      if (misspelling !== undefined) return { kind: 'refused', reason: misspelling };
      const requested = resolve(workdir, path);
      const [real, realWorkdir, realHome] = await Promise.all([
        followLinks(requested),
        realpath(workdir),
        realpath(home).catch(() => resolve(home)), // not made yet
      ]);
      if (real.kind === 'refused') return real;
      const problem = findBarrier(real.path, { workdir: realWorkdir, home: realHome });
      if (problem !== undefined) return { kind: 'refused', reason: `${path} ${problem}` };
      const isInWorkdir = isInside(realWorkdir, real.path);
      const shown = isInWorkdir ? relative(realWorkdir, real.path) || '.' : real.path;
      return {
        kind: 'allowed',
        path: real.path,
        shown,
        exists: real.exists,
        isOutside: !isInWorkdir,
        // The name that was asked for counts too: `.env` may be a link to a harmless-looking file.
        isSecret: isSecretPath(shown) || isSecretPath(relative(workdir, requested)),
      };
    },
  };
}

/** True for the folder itself and everything below it. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** They hold the daemon's environment and memory, and devices. */
const KERNEL = ['/proc', '/sys', '/dev'];

function findMisspelling(path: string): string | undefined {
  if (path === '') return 'The path is empty.';
  return path.includes('\0') ? 'The path contains a NUL character.' : undefined;
}

function findBarrier(path: string, { workdir, home }: { workdir: string; home: string }): string | undefined {
  const isWorkspace = workdir !== home && isInside(home, workdir) && isInside(workdir, path);
  if (isInside(home, path) && !isWorkspace) return 'belongs to Headgate itself, which tools cannot reach.';
  return KERNEL.some((folder) => isInside(folder, path)) ? 'is not an ordinary file or folder.' : undefined;
}

type Followed = { kind: 'followed'; path: string; exists: boolean } | { kind: 'refused'; reason: string };

/** The real path of the nearest existing ancestor, and what comes after it as it is. */
async function followLinks(path: string): Promise<Followed> {
  try {
    return { kind: 'followed', path: await realpath(path), exists: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOENT') return { kind: 'refused', reason: `${path} cannot be reached (${code}).` };
  }
  // A dangling link exists, and writing through it would create a file wherever it points.
  const isThere = await lstat(path).then(
    () => true,
    () => false, // nothing there
  );
  if (isThere) return { kind: 'refused', reason: `${path} is a link to nothing.` };
  const parent = await followLinks(dirname(path));
  return parent.kind === 'refused'
    ? parent
    : { kind: 'followed', path: join(parent.path, basename(path)), exists: false };
}
