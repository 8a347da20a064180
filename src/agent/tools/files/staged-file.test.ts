import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { test } from 'node:test';
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
