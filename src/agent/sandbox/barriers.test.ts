import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
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

const inOrder = (names: readonly string[]) => [...names].sort((a, b) => (a < b ? -1 : 1));

test('what is missing exists as an empty folder while commands run, and is gone after the last one', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  const first = await barriers.raise(root, []);
  const second = await barriers.raise(root, ['.envrc', '.git/config', '.git/hooks']);
  assert.deepEqual(inOrder(first.readOnly), (await readdir(work)).sort());
  assert.deepEqual([first.readOnly.includes('.git'), second.readOnly.includes('.git')], [true, false]);
  assert.deepEqual([first.readOnly.includes('.envrc'), second.readOnly.includes('.envrc')], [true, false]);
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
  assert.deepEqual(barrier.pinned, ['.git', 'node_modules']);
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
  assert.deepEqual([barrier.pinned, barrier.readOnly.includes('.git')], [[], true]);
  await barrier.remove();
  assert.deepEqual(await readdir(work), ['.git']);
});

test('where git reads files, files that change nothing stand for them, unless somebody outside wrote others', async (t) => {
  const { work, root, barriers, folder } = await start(t);
  await mkdir(join(work, '.git'));
  await writeFile(join(work, '.git/HEAD'), '');
  const read = (name: string) => readFile(join(work, '.git', name), 'utf8');
  await barriers.raise(root, []);
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
  await barriers.raise(root, []);
  await writeFile(join(work, '.idea/mine'), '');
  await createBarriers({ folder }).removeLeftovers();
  assert.deepEqual([await readdir(work), await readdir(folder)], [['.idea'], []]);
});
