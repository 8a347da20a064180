import assert from 'node:assert/strict';
import { symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { createConfinement } from '../files/confinement.ts';
import { createToolFixture, execute, recordRun, toShown } from '../tool-fixture.ts';
import { expandBraces } from './expand-braces.ts';
import { createGlobTool } from './glob-files.ts';

const workerUrl = new URL('./search-worker.ts', import.meta.url);

async function start() {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  const tool = createGlobTool({ confinement, clock: systemClock, workerUrl });
  const prepare = (args: { pattern: string; path?: string }) =>
    tool.prepare(tool.parameters.parse(args), fixture.context());
  return {
    ...fixture,
    prepare,
    /** The newest one has the greatest age number. */
    async dated(path: string, seconds: number) {
      const file = await fixture.file(path, '');
      await utimes(file, seconds, seconds);
    },
    async glob(pattern: string, path?: string) {
      const { output } = await execute(await prepare({ pattern, ...(path !== undefined && { path }) }));
      return output.split('\n');
    },
  };
}

test('files are found by their paths, the newest first, without ignored ones', async () => {
  await using it = await start();
  await it.dated('work/src/a.ts', 1_000);
  await it.dated('work/src/deep/b.tsx', 3_000);
  await it.dated('work/c.ts', 2_000);
  await it.dated('work/src/D.TS', 4_000);
  await it.dated('work/dist/e.ts', 5_000);
  await it.dated('work/.git/f.ts', 6_000);
  await it.file('work/.gitignore', 'dist/\n');
  await symlink(join(it.workdir, 'c.ts'), join(it.workdir, 'link.ts'));
  assert.deepEqual(
    {
      names: await it.glob('*.ts'),
      braces: await it.glob('src/**/*.{ts,tsx}'),
      inFolder: await it.glob('./*.ts', 'src'),
      absolute: await it.glob(`${it.workdir}/*/a.ts`),
      nothing: await it.glob('*.py'),
      literal: await it.glob('!*.ts'),
    },
    {
      names: ['c.ts', 'src/a.ts'],
      braces: ['src/deep/b.tsx', 'src/a.ts'],
      inFolder: ['src/a.ts'],
      absolute: ['src/a.ts'],
      nothing: ['[no files]'],
      literal: ['[no files]'],
    },
  );
});

test('listing names needs approval only outside the folders of the workstream', async () => {
  await using it = await start();
  await it.file('other/x.ts', '');
  assert.deepEqual(toShown(await it.prepare({ pattern: '*.ts' })), {
    kind: 'ready',
    subject: '*.ts',
    preview: '',
    approvalLabel: 'glob',
    needsApproval: false,
    effects: { list: [{ kind: 'read', target: '.', certain: true }] },
    bindTo: it.workdir,
  });
  const outside = await it.prepare({ pattern: '*.ts', path: '../other' });
  assert.deepEqual(outside.kind === 'ready' && [outside.needsApproval, outside.subject], [
    true,
    `*.ts in ${it.root}/other`,
  ]);
});

test('of many files only the newest are listed, with the number of all', async () => {
  await using it = await start();
  await Promise.all(Array.from({ length: 205 }, (_, n) => it.dated(`work/${String(n).padStart(3, '0')}.txt`, n)));
  const lines = await it.glob('*.txt');
  assert.deepEqual(
    [lines.length, lines[0], lines.at(-1)],
    [201, '204.txt', '[200 of 205 files; a narrower pattern shows others]'],
  );
  const { output } = await execute(await it.prepare({ pattern: '*.txt' }), { ...recordRun(), maxOutputBytes: 20 });
  assert.equal(output, '204.txt\n203.txt\n[2 of 205 files; a narrower pattern shows others]');
});

test('a pattern that leaves the folder or has too many braces is refused', async () => {
  await using it = await start();
  await it.file('work/a.txt', '');
  const reasonOf = async (pattern: string, path = '.') => {
    const prepared = await it.prepare({ pattern, path });
    return prepared.kind === 'refused' && prepared.reason;
  };
  assert.deepEqual(
    [
      await reasonOf('../*'),
      await reasonOf('{1,2}'.repeat(20)),
      await reasonOf('*', 'no'),
      await reasonOf('*', 'a.txt'),
    ],
    [
      'The pattern must not contain ".."; give another folder as path.',
      'The braces of the pattern stand for too many patterns.',
      'no: no such folder.',
      'a.txt is not a folder.',
    ],
  );
});

test('braces stand for their alternatives, also within each other', () => {
  assert.deepEqual(expandBraces('a{b,c{d,e}}.{x,y}'), ['ab.x', 'ab.y', 'acd.x', 'acd.y', 'ace.x', 'ace.y']);
  assert.deepEqual([expandBraces('a{b}'), expandBraces('a{b'), expandBraces('{a,b')], [['a{b}'], ['a{b'], ['{a,b']]);
});
