import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from './entry.ts';
import { hashOf } from './object-store.ts';
import { type FilePlan, planFiles } from './plan-files.ts';
import { encodeTree, type TreeItem } from './tree.ts';

const FILE: Entry = { kind: 'file', mode: 0o644, hash: 'content', size: 1 };
const UNREADABLE: Entry = { kind: 'left_out', reason: 'unreadable' };

/** Items of a folder by their names; a folder is its items. */
interface Folder {
  [name: string]: Entry | Folder;
}

const isEntry = (item: Entry | Folder): item is Entry => typeof item.kind === 'string';

/** Plans the way from one tree to another, with what is on disk at each path. */
function plan(from: Folder, to: Folder, look: (path: string) => Entry | undefined): FilePlan {
  const objects = new Map<string, Buffer>();
  const store = (folder: Folder): string => {
    const items = Object.entries(folder).map(
      ([name, item]): TreeItem => (isEntry(item) ? { name, ...item } : { name, kind: 'folder', hash: store(item) }),
    );
    const bytes = encodeTree(items);
    objects.set(hashOf(bytes), bytes);
    return hashOf(bytes);
  };
  return planFiles([{ from: [store(from)], to: [store(to)] }], {
    reader: { get: (hash) => objects.get(hash) ?? assert.fail(hash) },
    look: ({ path }) => ({ entry: look(path), id: path.toLowerCase() }), // a file system that ignores case
    choose: () => 'refuse',
  });
}

test('files of a folder that could not be read before the run are not removed as new ones', () => {
  const { changes, conflicts, missing } = plan({ data: { mine: FILE } }, { data: UNREADABLE }, (path) =>
    path === 'data/mine' ? FILE : undefined,
  );
  assert.deepEqual([changes, conflicts, missing], [[], [], [{ root: 0, path: 'data' }]]);
});

test('files of a folder that cannot be read after the run are conflicts, unless they are as before', () => {
  const planned = [UNREADABLE, FILE].map((found) =>
    plan({ data: UNREADABLE }, { data: { mine: FILE } }, (path) => (path === 'data/mine' ? found : undefined)),
  );
  assert.deepEqual(
    planned.map(({ changes, conflicts }) => [changes, conflicts]),
    [
      [[], [{ root: 0, path: 'data/mine', reason: 'unknown' }]],
      [[], []],
    ],
  );
});

test('a file whose name changed only its case is not deleted where the file system ignores that', () => {
  const onDisk = (path: string) => (path.toLowerCase() === 'readme.md' ? FILE : undefined);
  const { changes } = plan({ 'README.md': FILE }, { 'Readme.md': FILE }, onDisk);
  assert.deepEqual(changes, []);
});
