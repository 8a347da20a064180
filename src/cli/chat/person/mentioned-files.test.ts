import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../../testing/needs.ts';
import { listFiles } from './list-files.ts';
import { readMentioned } from './mentioned-files.ts';

const run = promisify(execFile);
const needsGit = await needs('git');

async function makeProject() {
  const made = await mkdtempDisposable(path.join(tmpdir(), 'headgate-mentions-'));
  await mkdir(path.join(made.path, 'src'));
  await writeFile(path.join(made.path, 'src/a.ts'), 'one\ntwo\nthree\n');
  return made;
}

test('a mentioned file is read whole or by lines; folders and people stay text', async () => {
  await using project = await makeProject();
  const read = await readMentioned('@src/a.ts @src/a.ts#2-3 @src @anna', project.path);
  const files = await Promise.all(read.map(async ({ file }) => [file.name, await file.text()]));
  assert.deepEqual(files, [
    ['a.ts', 'one\ntwo\nthree\n'],
    ['a.ts (lines 2-3)', 'two\nthree\n'],
  ]);
});

test('lines that do not exist are refused with those that do', async () => {
  await using project = await makeProject();
  await assert.rejects(readMentioned('@src/a.ts#2-9', project.path), {
    message: 'src/a.ts has lines 1 to 3, but the message names 2 to 9.',
  });
});

test('no program is run that a repository names', needsGit, async () => {
  await using project = await makeProject();
  const git = (...args: string[]) => run('git', args, { cwd: project.path });
  const evil = path.join(project.path, '.git/evil');
  await git('init', '-q');
  await writeFile(evil, '#!/bin/sh\ntouch "$0-ran"\n', { mode: 0o755 });
  await git('add', '.');
  await git('config', 'core.fsmonitor', evil);
  await git('update-index', '--fsmonitor');
  await rm(`${evil}-ran`, { force: true });
  assert.deepEqual(await listFiles(project.path), ['src/a.ts']);
  assert.equal(existsSync(`${evil}-ran`), false);
});

test('without a repository, the files of the folder are listed, except hidden ones and packages', async () => {
  await using project = await makeProject();
  for (const folder of ['.hidden', 'node_modules']) {
    await mkdir(path.join(project.path, folder));
    await writeFile(path.join(project.path, folder, 'x.ts'), '');
  }
  assert.deepEqual(await listFiles(project.path), ['src/a.ts']);
});
