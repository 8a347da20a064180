import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { relative } from 'node:path';
import type { FileEntry, ListedFolder } from '../../../protocol/methods/conversation/file.ts';
import { toMoment } from '../../day.ts';
import { toBinary, toPath, toShownPath } from '../checkpoints/entry.ts';
import { openConfinedFolder } from '../tools/files/confined-file.ts';
import { isSecretPath } from '../tools/files/secret-path.ts';
import { ignoredIn } from './ignored.ts';
import { type Asked, asProblem, type HeldPlace, placeOf } from './place.ts';
import type { ListRange } from './workspace.ts';

/** Sorting needs all names in memory. Larger folders are cut off here. */
const MOST_NAMES = 20_000;

/** A part of a folder: folders first, then by name. */
export async function listFolder(asked: Asked, range: ListRange): Promise<ListedFolder> {
  const place = await placeOf(asked);
  const { folder, readable } = asked.workdir;
  return asProblem(async () => {
    const opened = await openConfinedFolder(place, { make: false });
    try {
      const all = await readNames(opened.way);
      const shown = all.slice(range.offset, range.offset + range.limit);
      const toEntry = entryMaker(place, opened.way);
      return {
        path: place.shown,
        folders: [folder.path, ...readable.map(({ path }) => path)],
        entries: await Promise.all(shown.map(toEntry)),
        total: all.length,
      };
    } finally {
      await opened.handle.close();
    }
  });
}

/** The names are binary strings: they need not be UTF-8. */
async function readNames(way: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(way, { encoding: 'latin1', bufferSize: 1_000 })) {
    entries.push(entry);
    if (entries.length === MOST_NAMES) break;
  }
  return entries.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1));
}

function entryMaker({ shown, path, base }: HeldPlace, way: string): (entry: Dirent) => Promise<FileEntry> {
  const isIgnored = ignoredIn(base.way, relative(base.path, path));
  return async (entry) => {
    const name = toShownPath(entry.name);
    const below = shown === '.' ? name : `${shown}/${name}`;
    const isFolder = entry.isDirectory();
    const stats = isFolder ? undefined : await lstat(toPath(`${toBinary(way)}/${entry.name}`)).catch(() => undefined);
    return {
      name,
      ...(toBinary(name) === entry.name && { path: below }),
      kind: kindOf(entry),
      ...(stats && { sizeBytes: stats.size, modifiedMs: toMoment(stats.mtimeMs) }),
      ignored: isIgnored(name, isFolder),
      secret: isSecretPath(below),
    };
  };
}

function kindOf(entry: Dirent): FileEntry['kind'] {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
