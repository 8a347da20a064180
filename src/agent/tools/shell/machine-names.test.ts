import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMachineNames } from './machine-names.ts';

test('a path is found as realpath finds it: with links, without, past a missing folder, and through a file', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'headgate-names-')));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'folder', 'inner'), { recursive: true });
  await writeFile(join(root, 'folder', 'file'), '');
  await symlink('folder/inner', join(root, 'link'));
  await symlink('nowhere', join(root, 'dangling'));
  await symlink('turns', join(root, 'turns'));
  const names = createMachineNames();
  const places = [
    '',
    'folder',
    'folder/file',
    'link',
    'link/../file',
    'link/missing',
    'dangling',
    'turns',
    'missing/a',
  ];
  for (const place of [...places, 'folder/file/a', 'folder/', 'folder/../folder']) {
    const path = `${root}/${place}`;
    const expected = await realpath(path).catch(() => undefined);
    assert.equal(await names.realpath(path), expected, place);
    assert.equal(await names.realpath(path), expected, `${place}, again`); // the folder is known by now
  }
  assert.equal(await names.realpath('/'), '/');
  assert.deepEqual([...(await names.list(join(root, 'folder')))].sort(), ['file', 'inner']);
  assert.deepEqual(await names.list(join(root, 'missing')), []);
});
