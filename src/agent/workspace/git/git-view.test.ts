import assert from 'node:assert/strict';
import { chmod, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { needs } from '../../../testing/needs.ts';
import { workspaceFixture } from '../workspace-fixture.ts';
import { parseStatus } from './parse-status.ts';

const needsGit = await needs('git');
const signal = new AbortController().signal;

/** A repository with one commit. */
async function repository() {
  const it = await workspaceFixture();
  await it.git('init', '-q');
  for (const name of ['a.txt', 'b.txt', 'c.txt', '.env']) await it.file(`work/${name}`, `${name}\n`);
  await it.git('add', '-f', '.');
  await it.git('commit', '-qm', 'first');
  const changes = () => it.workspace.changes(it.workdir, signal);
  const diff = (path: string, part?: 'staged' | 'unstaged') => it.workspace.diff(it.workdir, { path, part }, signal);
  return Object.assign(it, { changes, diff });
}

test('git reports staged, unstaged and untracked files, and their diffs', needsGit, async () => {
  await using it = await repository();
  await it.file('work/a.txt', 'a.txt\nstaged\n');
  await it.git('add', 'a.txt');
  await it.file('work/a.txt', 'a.txt\nstaged\nthen\n');
  await rm(it.at('work/b.txt'));
  await it.file('work/new/d é.txt', 'd\n');
  await it.file('work/.env', 'KEY=canary\n');
  assert.deepEqual(await it.changes(), [
    {
      path: '.',
      branch: 'main',
      files: [
        { path: '.env', unstaged: 'modified' },
        { path: 'a.txt', staged: 'modified', unstaged: 'modified' },
        { path: 'b.txt', unstaged: 'deleted' },
        { path: 'new/d é.txt', unstaged: 'untracked' },
      ],
      complete: true,
    },
  ]);
  const lines = async (path: string, part?: 'staged' | 'unstaged') => {
    const { diff = '', additions, deletions } = await it.diff(path, part);
    return [additions, deletions, diff.split('\n').filter((line) => /^[+-](?![+-])/.test(line))];
  };
  assert.deepEqual(await lines('a.txt'), [2, 0, ['+staged', '+then']]);
  assert.deepEqual(await lines('a.txt', 'staged'), [1, 0, ['+staged']]);
  assert.deepEqual(await lines('a.txt', 'unstaged'), [1, 0, ['+then']]);
  assert.deepEqual(await lines('b.txt'), [0, 1, ['-b.txt']]);
  assert.deepEqual(await lines('new/d é.txt'), [1, 0, ['+d']]);
  assert.deepEqual(await it.diff('.env'), { path: '.env', additions: 0, deletions: 0, without: 'secret' });
  await assert.rejects(it.diff('c.txt'), { kind: 'missing' }, 'it has not changed');
  await assert.rejects(it.diff('../foreign/x'), { kind: 'missing' });
  assert.deepEqual(await readdir(it.at('home/git')), [], 'nothing is left behind');
});

test(
  'a file that holds secrets has no diff, however its path is spelt, and also if it is gone from the disk',
  needsGit,
  async () => {
    await using it = await repository();
    await it.file('work/.env', 'KEY=canary\n');
    await it.git('add', '-f', '.env');
    const secret = { path: '.env', additions: 0, deletions: 0, without: 'secret' };
    const spellings = ['.env', '.env/.', './.env/', 'x/../.env/.', it.at('work/.env/.')];
    for (const path of spellings) assert.deepEqual(await it.diff(path, 'staged'), secret, path);
    await rm(it.at('work/.env'));
    for (const path of spellings) assert.deepEqual(await it.diff(path), secret, path);
  },
);

test('the path of a diff is relative to the working directory, wherever the daemon was started', needsGit, async () => {
  const cwd = process.cwd();
  await using it = await repository();
  await it.file('work/a.txt', 'changed\n');
  process.chdir(it.at('added'));
  try {
    assert.equal((await it.diff('./a.txt')).additions, 1);
  } finally {
    process.chdir(cwd);
  }
});

test('no program that a repository names is run: filters, monitors, hooks, diffs, pagers', needsGit, async () => {
  await using it = await repository();
  const program = it.at('work/program.sh');
  await writeFile(program, `#!/bin/sh\necho ran >> ${it.at('foreign/ran')}\ncat\n`);
  await chmod(program, 0o755);
  const named = [
    'core.fsmonitor',
    'core.pager',
    'pager.status',
    'diff.external',
    'filter.evil.clean',
    'core.sshCommand',
  ];
  for (const key of [
    ...named,
    'filter.evil.process',
    'diff.evil.textconv',
    'diff.evil.command',
    'core.alternateRefsCommand',
  ])
    await it.git('config', key, program);
  await it.git('config', 'core.hooksPath', it.at('work'));
  await it.file('work/post-index-change', `#!/bin/sh\necho ran >> ${it.at('foreign/ran')}\n`);
  await chmod(it.at('work/post-index-change'), 0o755);
  await it.file('work/.gitattributes', '* filter=evil diff=evil\n');
  await it.file('work/a.txt', 'changed\n');
  const [found] = await it.changes();
  assert.ok(found?.files.some(({ path }) => path === 'a.txt'));
  assert.equal((await it.diff('a.txt')).additions, 1);
  await assert.rejects(readFile(it.at('foreign/ran')), { code: 'ENOENT' });
});

test('a working tree, objects and links elsewhere are not followed', needsGit, async () => {
  await using it = await repository();
  await it.git('config', 'core.worktree', it.at('foreign'));
  await it.file('foreign/a.txt', 'canary\n');
  assert.deepEqual((await it.changes())[0]?.files, []);
  await rm(it.at('work/c.txt'));
  await symlink(it.at('foreign/a.txt'), it.at('work/c.txt'));
  const { diff = '' } = await it.diff('c.txt');
  assert.ok(diff.includes(`+${it.at('foreign/a.txt')}`) && !diff.includes('canary'));
  const elsewhere = [{ path: '.', files: [], complete: true, without: 'elsewhere' }];
  await it.file('work/.git/objects/info/alternates', `${it.at('foreign')}\n`);
  assert.deepEqual(await it.changes(), elsewhere);
  await rm(it.at('work/.git/objects/info/alternates'));
  const [folder = ''] = (await readdir(it.at('work/.git/objects'))).filter((name) => name.length === 2);
  const [name = ''] = await readdir(it.at(`work/.git/objects/${folder}`));
  const object = it.at(`work/.git/objects/${folder}/${name}`);
  await rename(object, it.at('foreign/object'));
  await symlink(it.at('foreign/object'), object);
  assert.deepEqual(await it.changes(), elsewhere, 'an object that is a link');
  await rm(object);
  await rename(it.at('foreign/object'), object);
  await rename(it.at('work/.git'), it.at('foreign/.git'));
  await symlink(it.at('foreign/.git'), it.at('work/.git'));
  assert.deepEqual(await it.changes(), []);
  await rm(it.at('work/.git'));
  await it.file('work/.git', `gitdir: ${it.at('foreign/.git')}\n`);
  assert.deepEqual(await it.changes(), elsewhere);
});

test('a repository without a commit, one that git cannot read, and a folder without one', needsGit, async () => {
  await using it = await workspaceFixture();
  const changes = () => it.workspace.changes(it.workdir, signal);
  assert.deepEqual(await changes(), []);
  await it.git('init', '-q');
  await it.file('work/a.txt', 'a\n');
  await it.git('add', 'a.txt');
  const files = [{ path: 'a.txt', staged: 'added' }];
  assert.deepEqual(await changes(), [{ path: '.', branch: 'main', files, complete: true }]);
  await it.file('work/.git/index', 'damaged');
  assert.deepEqual(await changes(), [{ path: '.', branch: 'main', files: [], complete: true, without: 'failed' }]);
});

test('the branch and the commit are found in packed refs, and a detached head has no branch', needsGit, async () => {
  await using it = await repository();
  await it.git('pack-refs', '--all');
  assert.deepEqual(await it.changes(), [{ path: '.', branch: 'main', files: [], complete: true }]);
  await it.git('checkout', '-q', '--detach');
  assert.deepEqual(await it.changes(), [{ path: '.', files: [], complete: true }]);
});

test('lines of a status are read; names that are not UTF-8 and cut lines are left out', () => {
  const [zero, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40));
  const lines = [
    `1 MD N... 100644 100644 000000 ${one} ${two} a b.txt`,
    `u UU N... 100644 100644 100644 100644 ${zero} ${one} ${two} c.txt`,
    '? \xff',
    '# branch.oid',
  ];
  const bytes = Buffer.from(`${lines.join('\0')}\0? cut`, 'latin1');
  assert.deepEqual(parseStatus(bytes), [
    { path: 'a b.txt', staged: 'modified', unstaged: 'deleted', head: one, index: two, headMode: '100644' },
    { path: 'c.txt', unstaged: 'conflict', head: one, index: one },
  ]);
});
