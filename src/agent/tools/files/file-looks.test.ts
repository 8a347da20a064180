import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../../testing/temp-store.ts';
import { createLooks, patientLooks, promptLooks } from './file-looks.ts';

/** A file, a folder, a link to each, and nothing. */
async function places() {
  const dir = tempDir();
  const root = await realpath(dir.path);
  const at = (name: string) => path.join(root, name);
  await writeFile(at('file'), 'abcdef');
  await mkdir(at('folder'));
  await symlink(at('file'), at('to-file'));
  await symlink(at('folder'), at('to-folder'));
  await writeFile(at('folder/inside'), 'hidden');
  return { at, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

const NAMES = ['file', 'folder', 'to-file', 'to-folder', 'to-folder/inside', 'file/below', 'missing'];

for (const [how, looks] of Object.entries({ 'at once': promptLooks, patiently: patientLooks })) {
  test(`looking ${how}: links are found but not followed, and nothing fails`, async () => {
    using it = await places();
    const look = async (name: string) => {
      const place = it.at(name);
      const start = await looks.readStart(place, 4);
      return [
        name,
        await looks.isThere(place),
        await looks.isFolder(place),
        path.relative(it.at('.'), await looks.realOf(place)),
        start && [start.bytes.toString(), start.size],
      ];
    };
    assert.deepEqual(await Promise.all(NAMES.map(look)), [
      ['file', true, false, 'file', ['abcd', 6]],
      ['folder', true, true, 'folder', undefined],
      ['to-file', true, false, 'file', undefined],
      ['to-folder', true, false, 'folder', undefined],
      ['to-folder/inside', true, false, 'folder/inside', undefined],
      ['file/below', false, false, 'file/below', undefined],
      ['missing', false, false, 'missing', undefined],
    ]);
  });
}

for (const [how, looks] of Object.entries({ 'at once': promptLooks, patiently: patientLooks })) {
  test(`listing ${how}: at most as many names as asked for, and nothing fails`, async () => {
    using it = await places();
    const list = async (name: string, most: number) => [...(await looks.namesIn(it.at(name), most))].sort();
    assert.deepEqual(await list('.', 10), ['file', 'folder', 'to-file', 'to-folder']);
    assert.equal((await list('.', 3)).length, 3);
    assert.deepEqual(
      [await list('to-folder', 9), await list('file', 9), await list('missing', 9)],
      [['inside'], [], []],
    );
  });
}

test('only what is on local disks is looked at without waiting; the kernel’s own file systems are not', async () => {
  const places = createLooks();
  assert.deepEqual(
    [await places.at('/proc'), await places.at('/proc/self/missing'), places.at('/proc')],
    [patientLooks, patientLooks, patientLooks],
  );
});
