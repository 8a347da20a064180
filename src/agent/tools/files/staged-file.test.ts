import assert from 'node:assert/strict';
import { chmod, open, readdir, readFile, stat } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { createToolFixture } from '../tool-fixture.ts';
import { ToolProblem } from '../tool-problem.ts';
import { readVersion } from './confined-file.ts';
import { createConfinement } from './confinement.ts';
import { commitAll, stageContent, stageRemoval } from './staged-file.ts';

async function start() {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  return {
    ...fixture,
    async look(name: string) {
      const place = await confinement.locate(name, fixture.context().workdir);
      if (place.kind === 'refused') throw new Error(place.reason);
      return { place, old: await readVersion(place) };
    },
    async files() {
      const names = (await readdir(fixture.workdir)).sort();
      return Promise.all(names.map(async (name) => [name, await readFile(`${fixture.workdir}/${name}`, 'utf8')]));
    },
  };
}

test('changes are made together; if one fails, those before it are taken back', async () => {
  await using it = await start();
  await chmod(await it.file('work/a.txt', 'one'), 0o640);
  await it.file('work/b.txt', 'two');
  const [a, b, c] = [await it.look('a.txt'), await it.look('b.txt'), await it.look('c.txt')];
  {
    await using changed = await stageContent(a.place, { text: '1', old: a.old });
    await using removed = await stageRemoval(b.place);
    await using created = await stageContent(c.place, { text: '3', old: c.old });
    const failing = {
      commit: () => Promise.reject(new ToolProblem('d.txt: the disk is full')),
      undo: () => Promise.reject(new Error('was not made')),
    };
    await assert.rejects(commitAll([changed, removed, created, failing]), { message: 'd.txt: the disk is full' });
  }
  assert.deepEqual(await it.files(), [
    ['a.txt', 'one'],
    ['b.txt', 'two'],
  ]);
  assert.equal((await stat(`${it.workdir}/a.txt`)).mode & 0o777, 0o640);
  {
    await using changed = await stageContent(a.place, { text: '1', old: a.old });
    await using removed = await stageRemoval(b.place);
    await commitAll([changed, removed]);
  }
  assert.deepEqual(await it.files(), [['a.txt', '1']]);
});

test('a change that cannot be taken back is reported', async () => {
  const stuck = { commit: async () => undefined, undo: () => Promise.reject(new Error('gone')) };
  const failing = { commit: () => Promise.reject(new ToolProblem('b: no')), undo: async () => undefined };
  await assert.rejects(commitAll([stuck, failing]), {
    message: 'b: no. Some files were changed already and could not be restored; look at each of them.',
  });
});

/** Folders cannot be synced, as on a disk that fails; files can. */
async function failToSyncFolders(t: TestContext): Promise<void> {
  await using root = await open('/', 'r');
  const handles = Object.getPrototypeOf(root);
  t.mock.method(handles, 'sync', async function (this: typeof root) {
    if ((await this.stat()).isDirectory()) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  });
}

test('a change that the disk does not confirm is made, and so are the others, and the outcome says so', async (t) => {
  await using it = await start();
  await it.file('work/a.txt', 'one');
  await it.file('work/b.txt', 'two');
  const [a, b] = [await it.look('a.txt'), await it.look('b.txt')];
  await failToSyncFolders(t);
  const doubt = (name: string) => `${name}: EIO. The change is made, but it may be lost if the machine fails now.`;
  {
    await using changed = await stageContent(a.place, { text: '1', old: a.old });
    await using removed = await stageRemoval(b.place);
    assert.deepEqual(await commitAll([changed, removed]), [doubt('a.txt'), doubt('b.txt')]);
  }
  assert.deepEqual(await it.files(), [['a.txt', '1']]);
});
