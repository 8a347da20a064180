import { lstatSync, type Stats } from 'node:fs';
import { type Entry, MODE_BITS, toPath } from './entry.ts';
import { hashOf } from './object-store.ts';
import { atPlace, type PlaceBelow } from './place-below.ts';
import { lacksDescriptors, readFile, readLink, type SnapshotRoot } from './snapshot.ts';

/** What is at a path now; `content`: of a file; `id`: the same for two names of one file. */
export interface Look {
  entry: Entry | undefined;
  content?: Buffer;
  id?: string;
}

/** Looks at a path below a root. A folder, and what a link on the way leads to, count as nothing. */
export function lookAt(root: SnapshotRoot, path: string, maxBytes: number): Look {
  try {
    return atPlace(root, { path }, (place) => lookAtPlace(place, maxBytes)) ?? { entry: undefined };
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    return { entry: { kind: 'left_out', reason: 'unreadable' } }; // such as a folder on the way that nobody may enter
  }
}

export function lookAtPlace({ path }: PlaceBelow, maxBytes: number): Look {
  const stats = lstat(path);
  if (stats?.isSymbolicLink()) return { entry: readLink(path), id: idOf(stats) };
  if (!stats?.isFile()) return { entry: undefined };
  const read = readFile(path, maxBytes);
  if (read === 'gone') return { entry: undefined };
  if (typeof read === 'string') return { entry: { kind: 'left_out', reason: read } };
  const { content } = read;
  const mode = read.stats.mode & MODE_BITS;
  return { entry: { kind: 'file', mode, hash: hashOf(content), size: content.length }, content, id: idOf(read.stats) };
}

const idOf = ({ dev, ino }: Stats): string => `${dev} ${ino}`;

const lstat = (path: string): Stats | undefined => lstatSync(toPath(path), { throwIfNoEntry: false });
