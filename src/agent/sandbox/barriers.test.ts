import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { holdFolder } from '../tools/files/held-folder.ts';
import { createBarriers } from './barriers.ts';
import { PROTECTED_PATHS } from './protected-paths.ts';

async function start(t: TestContext) {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'headgate-barriers-')));
  const work = join(top, 'work');
  await mkdir(work);
  const root = await holdFolder(work);
  t.after(() => root[Symbol.asyncDispose]().then(() => rm(top, { recursive: true, force: true })));
  const folder = join(top, 'barriers');
  return { work, root, folder, barriers: createBarriers({ folder }) };
}

const namesOf = (paths: readonly { name: string }[]) => paths.map(({ name }) => name);
const inOrder = (paths: readonly { name: string }[]) => namesOf(paths).sort((a, b) => (a < b ? -1 : 1));

test('what is missing exists as an empty folder while commands run, and is gone after the last one', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  const first = await barriers.raise(root, []);
  const second = await barriers.raise(root, ['.envrc', '.git/config', '.git/hooks']);
  assert.deepEqual(inOrder(first.readOnly), (await readdir(work)).sort());
  assert.deepEqual(
    [namesOf(first.readOnly).includes('.git'), namesOf(second.readOnly).includes('.git')],
    [true, false],
  );
  assert.deepEqual(
    [namesOf(first.readOnly).includes('.envrc'), namesOf(second.readOnly).includes('.envrc')],
    [true, false],
  );
  await first.remove();
  assert.deepEqual((await readdir(work)).sort(), inOrder(second.readOnly));
  await second.remove();
  assert.deepEqual([await readdir(work), await readdir(folder)], [[], []]);
});

test('what exists stays, its folder cannot be moved away, and links are left alone', async (t) => {
  const { work, root, barriers } = await start(t);
  await mkdir(join(work, '.git'));
  await mkdir(join(work, 'node_modules'));
  for (const name of ['.git/config', '.git/HEAD', 'AGENTS.md']) await writeFile(join(work, name), '');
  await symlink('elsewhere', join(work, '.vscode'));
  const barrier = await barriers.raise(
    root,
    PROTECTED_PATHS.filter((name) => name.startsWith('.') && !name.startsWith('.git') && name !== '.vscode'),
  );
  assert.deepEqual(namesOf(barrier.pinned), ['.git', 'node_modules']);
  const git = ['.git/commondir', '.git/config', '.git/config.worktree', '.git/hooks'];
  const found = [...git, 'AGENTS.md', 'CLAUDE.md', 'node_modules/.bin'];
  assert.deepEqual(inOrder(barrier.readOnly), found);
  await barrier.remove();
  assert.deepEqual((await readdir(work)).sort(), ['.git', '.vscode', 'AGENTS.md', 'node_modules']);
  assert.deepEqual(
    [await readdir(join(work, '.git')), await readdir(join(work, 'node_modules'))],
    [['HEAD', 'config'], []],
  );
});

test('a repository that is only begun is protected as a whole', async (t) => {
  const { work, root, barriers } = await start(t);
  await mkdir(join(work, '.git'));
  const barrier = await barriers.raise(root, []);
  assert.deepEqual([namesOf(barrier.pinned), namesOf(barrier.readOnly).includes('.git')], [[], true]);
  await barrier.remove();
  assert.deepEqual(await readdir(work), ['.git']);
});

test('where git reads files, files that change nothing stand for them, unless somebody outside wrote others', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  await mkdir(join(work, '.git'));
  await writeFile(join(work, '.git/HEAD'), '');
  const read = (name: string) => readFile(join(work, '.git', name), 'utf8');
  const killed = await barriers.raise(root, []);
  t.after(() => killed.remove());
  assert.deepEqual([await read('commondir'), await read('config.worktree')], ['.\n', '']);
  await writeFile(join(work, '.git/config.worktree'), 'mine');
  await createBarriers({ folder }).removeLeftovers();
  assert.deepEqual(await readdir(join(work, '.git')), ['HEAD', 'config.worktree']);
});

test('what somebody outside has put into an empty folder stays', async (t) => {
  const { work, root, barriers } = await start(t);
  const barrier = await barriers.raise(root, []);
  await writeFile(join(work, '.vscode/settings.json'), '{}');
  await barrier.remove();
  assert.deepEqual(await readdir(work), ['.vscode']);
});

test('the empty folders of a daemon that was killed are removed at the next start, and nothing else', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  const killed = await barriers.raise(root, []);
  t.after(() => killed.remove());
  await writeFile(join(work, '.idea/mine'), '');
  await createBarriers({ folder }).removeLeftovers();
  assert.deepEqual([await readdir(work), await readdir(folder)], [['.idea'], []]);
});

test('pipes that a command has left are not waited for', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  for (const name of ['sub/.git/objects', 'sub/.git/refs']) await mkdir(join(work, name), { recursive: true });
  for (const name of ['HEAD', 'config']) await writeFile(join(work, 'sub/.git', name), '');
  const barrier = await barriers.raise(root, []);
  await rename(join(work, 'sub/.git'), join(work, 'sub/aside'));
  await mkdir(join(work, 'sub/.git'));
  for (const name of ['HEAD', 'config', 'commondir', 'config.worktree'])
    execFileSync('mkfifo', [join(work, 'sub/.git', name)]);
  assert.deepEqual(await barrier.findPlanted(), []);
  await barrier.remove();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '1'), join(work, 'sub/.git/commondir'));
  await createBarriers({ folder }).removeLeftovers();
  assert.deepEqual((await readdir(join(work, 'sub/.git'))).length, 4);
});

test('nothing is made or removed behind a link that took the place of a folder', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  for (const name of ['sub/.git/objects', 'sub/.git/refs', '../user/.git'])
    await mkdir(join(work, name), { recursive: true });
  for (const name of ['HEAD', 'config']) await writeFile(join(work, 'sub/.git', name), '');
  const barrier = await barriers.raise(root, []);
  await rename(join(work, 'sub'), join(work, 'aside'));
  await symlink('../user', join(work, 'sub'));
  await mkdir(join(work, '../user/.git/hooks'));
  await barrier.remove();
  await createBarriers({ folder }).removeLeftovers();
  assert.deepEqual(await readdir(join(work, '../user/.git')), ['hooks']);
});
