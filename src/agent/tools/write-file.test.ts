import assert from 'node:assert/strict';
import { mkdir, open, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { StopReason } from '../stop-reason.ts';
import { toSha256 } from './files/confined-file.ts';
import { createConfinement } from './files/confinement.ts';
import { createToolFixture, execute, recordRun, sawFiles, toShown } from './tool-fixture.ts';
import { createWriteFileTool } from './write-file.ts';

async function start() {
  const fixture = await createToolFixture();
  const tool = createWriteFileTool({ confinement: createConfinement({ home: fixture.home }) });
  return {
    ...fixture,
    prepare: (args: { path: string; content: string }, history: Message[] = []) =>
      tool.prepare(args, fixture.context(history)),
  };
}

test('writing a new file needs approval, shows a diff, and is bound to the file not existing', async () => {
  await using it = await start();
  assert.deepEqual(toShown(await it.prepare({ path: 'src/new.txt', content: 'one\ntwo\n' })), {
    kind: 'ready',
    subject: 'src/new.txt',
    preview: ['--- /dev/null', '+++ src/new.txt', '@@ -0,0 +1,2 @@', '+one', '+two', ''].join('\n'),
    previewType: 'diff',
    approvalLabel: 'write_file',
    needsApproval: true,
    effects: { list: [{ kind: 'write', target: 'src/new.txt', certain: true }] },
    bindTo: `absent ${join(it.workdir, 'src/new.txt')}`,
  });
});

test('writing creates the file with its folders, and records its version', async () => {
  await using it = await start();
  const path = join(it.workdir, 'src/new.txt');
  assert.deepEqual(await execute(await it.prepare({ path: 'src/new.txt', content: 'one\ntwo\n' })), {
    output: 'Created src/new.txt (2 lines).',
    outcome: 'done',
    files: { [path]: toSha256('one\ntwo\n') },
  });
  assert.equal(await readFile(path, 'utf8'), 'one\ntwo\n');
});

test('a write that the disk does not confirm is done, and the outcome says so', async (t) => {
  await using it = await start();
  await using root = await open('/', 'r');
  t.mock.method(Object.getPrototypeOf(root), 'sync', async function (this: typeof root) {
    if ((await this.stat()).isDirectory()) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  });
  const { output, outcome } = await execute(await it.prepare({ path: 'new.txt', content: 'one\n' }));
  assert.deepEqual(
    [outcome, output],
    [
      'done',
      'Created new.txt (1 line).\nnew.txt: EIO. The change is made, but it may be lost if the machine fails now.',
    ],
  );
});

test('a file with the longest name of characters that take several bytes is written', async () => {
  await using it = await start();
  const path = '\u540d'.repeat(85);
  assert.equal((await execute(await it.prepare({ path, content: 'x' }))).outcome, 'done');
});

test('a single line is counted in the singular', async () => {
  await using it = await start();
  const { output } = await execute(await it.prepare({ path: 'one.txt', content: 'one\n' }));
  assert.equal(output, 'Created one.txt (1 line).');
});

test('an existing file that was not read is called an overwrite, and is bound to its version', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', 'old\n');
  const label = async (history: Message[]) => {
    const prepared = await it.prepare({ path: 'a.txt', content: 'new\n' }, history);
    return prepared.kind === 'ready' && [prepared.approvalLabel, prepared.bindTo];
  };
  const bound = `${toSha256('old\n')} ${path}`;
  assert.deepEqual(await label([]), ['overwrite_file', bound]);
  assert.deepEqual(await label([sawFiles({ [path]: toSha256('old\n') })]), ['write_file', bound]);
});

test('a file that changed after the approval is not written', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', 'old');
  const changed = await it.prepare({ path: 'a.txt', content: 'new' });
  await writeFile(path, 'changed by somebody');
  const appeared = await it.prepare({ path: 'b.txt', content: 'new' });
  const other = await it.file('work/b.txt', 'appeared');
  const removed = await it.prepare({ path: 'b.txt', content: 'new' });
  for (const prepared of [changed, appeared]) {
    const { output, outcome } = await execute(prepared);
    assert.equal(outcome, 'failed');
    assert.match(output, /has changed since the call was prepared; nothing was written/);
  }
  assert.deepEqual([await readFile(path, 'utf8'), await readFile(other, 'utf8')], ['changed by somebody', 'appeared']);
  await rm(other);
  assert.equal((await execute(removed)).outcome, 'failed');
});

test('a folder replaced by a link after the approval is not written through', async () => {
  await using it = await start();
  await mkdir(join(it.workdir, 'dir'));
  const outside = await it.file('outside/keep.txt', 'keep');
  const prepared = await it.prepare({ path: 'dir/keep.txt', content: 'planted' });
  await rm(join(it.workdir, 'dir'), { recursive: true });
  await symlink(join(it.root, 'outside'), join(it.workdir, 'dir'));
  assert.deepEqual(await execute(prepared), {
    output: 'dir/keep.txt leads to another place than when it was checked; nothing was done.',
    outcome: 'failed',
  });
  assert.equal(await readFile(outside, 'utf8'), 'keep');
});

test("a write outside the workdir says so first; Headgate's home is refused", async () => {
  await using it = await start();
  const prepared = await it.prepare({ path: '../outside.txt', content: 'x' });
  assert.ok(prepared.kind === 'ready');
  assert.match(prepared.preview, /^\(outside the working directory: .*outside\.txt\)\n/);
  assert.equal((await it.prepare({ path: '../home/config.json', content: '{}' })).kind, 'refused');
});

test('a write that was cancelled meanwhile changes nothing', async () => {
  await using it = await start();
  const run = recordRun(AbortSignal.abort(new StopReason('cancel', 'by a person')));
  assert.deepEqual(await execute(await it.prepare({ path: 'a.txt', content: 'x' }), run), {
    output: '[cancelled]',
    outcome: 'cancelled',
  });
  await assert.rejects(readFile(join(it.workdir, 'a.txt')), { code: 'ENOENT' });
});

test('a text that is too different to be compared line by line is shown as a diff that replaces all of it', async () => {
  await using it = await start();
  const noise = (seed: number) => Array.from({ length: 30_000 }, (_, n) => `${((n + 1) * seed) % 9_973}\n`).join('');
  await it.file('work/a.txt', noise(7_919));
  const content = noise(6_151);
  const prepared = await it.prepare({ path: 'a.txt', content });
  assert.ok(prepared.kind === 'ready');
  assert.match(prepared.preview, /^--- a\.txt\n\+\+\+ a\.txt\n@@ -1,30000 \+1,30000 @@\n-/);
  assert.ok(prepared.preview.endsWith(`+${content.trimEnd().replaceAll('\n', '\n+')}\n`));
});
