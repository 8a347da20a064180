import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

interface Place {
  home: string;
  /** The package's folder. */
  root: URL;
}

/**
 * Uses V8's compile cache in the home folder (`compiled/`, about 5 MB) for everything that is imported from now on. Only if
 * nobody else can access the folder, because the code in it is executed.
 */
export function useCompileCache({ home, root }: { home(): string; root: URL }): void {
  try {
    const place = { home: home(), root };
    const folder = folderOf(place);
    if ([place.home, folder].every(isPrivate)) enableCompileCache(folder);
  } catch {
    // The folder does not exist yet, or its name is invalid, which the command reports.
  }
}

/** After a successful start: creates the folder of this build and removes those of older builds. */
export async function makeCompileCache(place: Place): Promise<void> {
  try {
    const folder = folderOf(place);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const builds = await readdir(path.dirname(folder));
    const older = builds.filter((name) => name !== path.basename(folder));
    for (const name of older) await rm(path.join(path.dirname(folder), name), { recursive: true, force: true });
  } catch {
    // The cache is optional.
  }
}

/** Each build has a separate folder, named by its entry, which names the other files by their contents. */
function folderOf({ home, root }: Place): string {
  const entry = readFileSync(new URL('dist/main.js', root));
  return path.join(home, 'compiled', createHash('sha256').update(entry).digest('hex').slice(0, 12));
}

function isPrivate(folder: string): boolean {
  const { mode, uid } = statSync(folder);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}
