import assert from 'node:assert/strict';
import { chmod, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createToolFixture } from '../tool-fixture.ts';
import { openConfined, readVersion } from './confined-file.ts';
import { createConfinement } from './confinement.ts';
import { replaceFile } from './staged-file.ts';

async function start() {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  return {
    ...fixture,
    async locate(path: string) {
      const place = await confinement.locate(path, fixture.context().workdir);
      if (place.kind === 'refused') throw new Error(place.reason);
      return place;
    },
    /** The last possible moment: after all checks by name, before the file is opened. */
    async exchange(folder: string) {
      await rename(join(fixture.workdir, folder), join(fixture.workdir, `${folder}-old`));
      await symlink(fixture.home, join(fixture.workdir, folder));
    },
  };
}

test('opening notices a parent folder that became a link after the path was checked', async () => {
  await using it = await start();
  await it.file('work/dir/a.txt', 'harmless');
  await it.file('home/a.txt', 'canary');
  const place = await it.locate('dir/a.txt');
  await it.exchange('dir');
  await assert.rejects(openConfined(place), { name: 'ToolProblem', message: /leads to another place/ });
});

test('writing notices such a folder too, and leaves nothing behind', async () => {
  await using it = await start();
  await it.file('work/dir/a.txt', 'harmless');
  const place = await it.locate('dir/new.txt');
  await it.exchange('dir');
  await assert.rejects(replaceFile(place, { text: 'planted', old: undefined }), { name: 'ToolProblem' });
  assert.deepEqual(await readdir(it.home), []);
});

test('a file is replaced in one step, keeping its mode, and no temporary file stays', async () => {
  await using it = await start();
  const path = await it.file('work/run.sh', 'old');
  await chmod(path, 0o751);
  const place = await it.locate('run.sh');
  const before = await stat(path);
  await replaceFile(place, { text: 'new', old: await readVersion(place) });
  const after = await stat(path);
  assert.deepEqual([await readFile(path, 'utf8'), after.mode & 0o777, after.ino === before.ino], ['new', 0o751, false]);
  assert.deepEqual(await readdir(it.workdir), ['run.sh']);
});

test('missing folders are created', async () => {
  await using it = await start();
  await replaceFile(await it.locate('a/b/c.txt'), { text: 'new', old: undefined });
  assert.equal(await readFile(join(it.workdir, 'a/b/c.txt'), 'utf8'), 'new');
});

test('a failed write reports the reason and leaves no temporary file', async () => {
  await using it = await start();
  await it.file('work/folder/x', '');
  const place = await it.locate('folder');
  await assert.rejects(replaceFile(place, { text: 'new', old: undefined }), {
    name: 'ToolProblem',
    message: /^folder: /,
  });
  assert.deepEqual(await readdir(it.workdir), ['folder']);
});

test('invalid UTF-8 is refused and not damaged; a byte order mark is kept', async () => {
  await using it = await start();
  await it.file('work/latin1.txt', Buffer.from([0x66, 0xfc, 0x72]));
  await it.file('work/bom.txt', '\ufeffa');
  await assert.rejects(readVersion(await it.locate('latin1.txt')), { message: 'latin1.txt is not UTF-8 text.' });
  assert.equal((await readVersion(await it.locate('bom.txt')))?.text, '\ufeffa');
});
