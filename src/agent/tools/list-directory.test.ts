import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createConfinement } from './files/confinement.ts';
import { createListDirectoryTool } from './list-directory.ts';
import { createToolFixture, execute } from './tool-fixture.ts';

async function start() {
  const fixture = await createToolFixture();
  const tool = createListDirectoryTool({ confinement: createConfinement({ home: fixture.home }) });
  const prepare = (path?: string) =>
    tool.prepare(tool.parameters.parse(path === undefined ? {} : { path }), fixture.context());
  return { ...fixture, prepare, list: async (path?: string) => execute(await prepare(path)) };
}

test('folders come first, then files with their sizes; links show their targets', async () => {
  await using it = await start();
  await it.file('work/b.txt', '12345');
  await it.file('work/.env', '1');
  await it.file('work/zoo/x', '');
  await it.file('work/evil\u202egpj', '');
  await symlink('b.txt', join(it.workdir, 'link'));
  assert.deepEqual(await it.list(), {
    output: 'zoo/\n.env  1 bytes\nb.txt  5 bytes\nevil\\u202egpj  0 bytes\nlink -> b.txt',
    outcome: 'done',
  });
});

test('the listing of a large folder says that it is cut, and that of an empty one that it is empty', async () => {
  await using it = await start();
  for (let n = 0; n < 510; n += 1) await it.file(`work/many/${String(n).padStart(3, '0')}`, '');
  const { output } = await it.list('many');
  assert.equal(output.split('\n').length, 501);
  assert.match(output, /499 {2}0 bytes\n\[500 of 510 entries\]$/);
  await it.file('work/x/y/z', '');
  assert.equal((await it.list('x/y')).output, 'z  0 bytes');
});

test('a listing is an effect of its own, because names are no content', async () => {
  await using it = await start();
  const prepared = await it.prepare();
  const effects = prepared.kind === 'ready' ? prepared.reading?.effects : undefined;
  assert.deepEqual(effects, [{ kind: 'read', target: '.', path: it.workdir, certain: true, isListing: true }]);
});

test('listing outside the workdir needs approval; a path that is not a folder is refused', async () => {
  await using it = await start();
  await it.file('work/a.txt', '');
  const outside = await it.prepare('..');
  assert.equal(outside.kind === 'ready' && outside.needsApproval, true);
  const inside = await it.prepare();
  assert.equal(inside.kind === 'ready' && inside.needsApproval, false);
  const reasons = await Promise.all(['a.txt', 'missing', '../home'].map((path) => it.prepare(path)));
  assert.deepEqual(
    reasons.map((prepared) => prepared.kind === 'refused' && prepared.reason),
    [
      'a.txt is not a folder.',
      'missing: no such folder.',
      '../home belongs to Headgate itself; tools cannot access it.',
    ],
  );
});
