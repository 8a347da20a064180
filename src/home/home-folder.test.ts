import assert from 'node:assert/strict';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../testing/needs.ts';
import { tempDir } from '../testing/temp-store.ts';
import { openHomeFolder } from './home-folder.ts';

const linux = await needs('Linux');

const modeOf = async (folder: string) => (await stat(folder)).mode & 0o777;

test('a home and its parent folders are created, accessible only to the owner', async () => {
  using dir = tempDir();
  const home = path.join(dir.path, 'a', 'home');
  assert.deepEqual(await openHomeFolder(home), []);
  assert.equal(await modeOf(home), 0o700);
});

test('a home that is open to others is closed, with a notice', async () => {
  using dir = tempDir();
  const home = path.join(dir.path, 'home');
  await mkdir(home);
  await chmod(home, 0o755);
  assert.deepEqual(await openHomeFolder(home), [
    `The home folder ${home} was open to other users (mode 755); it is now open only to you.`,
  ]);
  assert.equal(await modeOf(home), 0o700);
  assert.deepEqual(await openHomeFolder(home), []);
});

test('a folder with other files is refused and not changed', async () => {
  using dir = tempDir();
  await chmod(dir.path, 0o755);
  await writeFile(path.join(dir.path, 'letters.txt'), '');
  await assert.rejects(openHomeFolder(dir.path), {
    name: 'StartError',
    message: `The home folder ${dir.path} cannot be used: other users can enter it, and it holds files that are not Headgate’s. Choose another with --home.`,
  });
  assert.equal(await modeOf(dir.path), 0o755);
  await writeFile(path.join(dir.path, 'config.json'), '{}');
  assert.equal((await openHomeFolder(dir.path)).length, 1, 'a home of ours is closed to others');
});

test('a home in a file system of the kernel is refused at once', linux, async () => {
  await assert.rejects(openHomeFolder('/proc/self/home'), {
    name: 'StartError',
    message: /is a file system of the kernel/,
  });
});

test('a home that is a file or below a file is refused in one line', async () => {
  using dir = tempDir();
  const file = path.join(dir.path, 'file');
  await writeFile(file, '');
  for (const home of [file, path.join(file, 'home')])
    await assert.rejects(openHomeFolder(home), {
      name: 'StartError',
      message: /^The home folder .*file.* cannot be used: [^\n]+\. Choose another with --home\.$/,
    });
});
