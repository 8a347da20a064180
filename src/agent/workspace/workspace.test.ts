import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { needs } from '../../testing/needs.ts';
import { RG } from '../process/program-fixture.ts';
import { takeLines } from './read-part.ts';
import { workspaceFixture } from './workspace-fixture.ts';

const ALL = { offset: 0, limit: 1_000 };
const LINES = { offset: 1, limit: 1_000 };
const NOT_THERE = { kind: 'missing' };

test('a folder is listed with folders first, sizes, and what git ignores', async () => {
  await using it = await workspaceFixture();
  await it.file('work/.gitignore', 'dist/\n*.log\n');
  await it.file('work/src/a.ts', 'abc');
  await it.file('work/dist/deep/a.js');
  await it.file('work/b.log', '12');
  await it.file('work/.env', 'KEY=1');
  await symlink('src/a.ts', it.at('work/to-a'));
  const { path, folders, entries, total } = await it.workspace.list(it.workdir, '.', ALL);
  assert.deepEqual([path, folders, total], ['.', [it.at('work'), it.at('added')], 6]);
  assert.deepEqual(
    entries.map(({ path: shown, kind, sizeBytes, ignored, secret }) => [shown, kind, sizeBytes, ignored, secret]),
    [
      ['dist', 'folder', undefined, true, false],
      ['src', 'folder', undefined, false, false],
      ['.env', 'file', 5, false, true],
      ['.gitignore', 'file', 12, false, false],
      ['b.log', 'file', 2, true, false],
      ['to-a', 'link', 8, false, false],
    ],
  );
  const below = await it.workspace.list(it.workdir, 'dist/deep', ALL);
  assert.deepEqual(
    below.entries.map(({ path: shown, ignored }) => [shown, ignored]),
    [['dist/deep/a.js', true]],
  );
});

test('of a folder with 10 000 entries, a page is listed', async () => {
  await using it = await workspaceFixture();
  execFileSync('/bin/sh', ['-c', 'seq -w 0 9999 | xargs touch'], { cwd: it.at('work') });
  await mkdir(it.at('work/sub'));
  const { entries, total } = await it.workspace.list(it.workdir, '.', { offset: 9_999, limit: 5 });
  assert.deepEqual([total, entries.map(({ name }) => name)], [10_001, ['9998', '9999']]);
});

test('a name that is not UTF-8 is listed without a path', async () => {
  await using it = await workspaceFixture();
  await writeFile(Buffer.concat([Buffer.from(`${it.at('work')}/a`), Buffer.from([0xff])]), 'x');
  const { entries } = await it.workspace.list(it.workdir, '.', ALL);
  assert.deepEqual(
    entries.map(({ name, path, sizeBytes }) => [name, path, sizeBytes]),
    [['a\\xff', undefined, 1]],
  );
});

test('files outside the folders of the workstream count as missing, however they are named', async () => {
  await using it = await workspaceFixture();
  await it.file('foreign/secret.txt', 'canary');
  await it.file('home/headgate.db', 'canary');
  await symlink(it.at('foreign'), it.at('work/folder'));
  await symlink(it.at('foreign/secret.txt'), it.at('work/file'));
  await symlink('/nowhere', it.at('work/dangling'));
  const paths = ['folder/secret.txt', 'file', 'dangling', '../foreign/secret.txt', it.at('foreign/secret.txt')];
  for (const path of [...paths, it.at('home/headgate.db'), '/etc/passwd', '/proc/self/environ', 'a\0b', '', 'missing'])
    await assert.rejects(it.workspace.read(it.workdir, path, LINES), NOT_THERE, path);
  for (const path of ['folder', '..', '/', it.at('foreign'), '/proc/self'])
    await assert.rejects(it.workspace.list(it.workdir, path, ALL), NOT_THERE, path);
});

test('links that stay inside, and files of added folders, are read', async () => {
  await using it = await workspaceFixture();
  await it.file('work/src/a.ts', 'one\ntwo\n');
  await it.file('added/b.txt', 'three');
  await symlink('src/a.ts', it.at('work/to-a'));
  const inside = await it.workspace.read(it.workdir, 'to-a', LINES);
  assert.deepEqual([inside.path, inside.text], ['src/a.ts', 'one\ntwo\n']);
  const added = await it.workspace.read(it.workdir, it.at('added/b.txt'), LINES);
  assert.deepEqual([added.path, added.text, added.lines], [it.at('added/b.txt'), 'three', 1]);
});

test('secrets, binary and large files are answered without text', async () => {
  await using it = await workspaceFixture();
  await it.file('work/.env', 'KEY=canary');
  await it.file('foreign/id_rsa', 'canary');
  await link(it.at('foreign/id_rsa'), it.at('work/harmless.txt'));
  await symlink('.env', it.at('work/readme'));
  await it.file('work/a.bin', Buffer.from([1, 0, 2]));
  await it.file('work/large.txt', Buffer.alloc(17 * 1024 * 1024, 0x61));
  const without = async (path: string) => {
    const part = await it.workspace.read(it.workdir, path, LINES);
    return [part.without, part.text, part.lines];
  };
  for (const path of ['.env', 'readme', 'harmless.txt'])
    assert.deepEqual(await without(path), ['secret', undefined, 0], path);
  assert.deepEqual(await without('a.bin'), ['binary', undefined, 0]);
  assert.deepEqual(await without('large.txt'), ['large', undefined, 0]);
});

test('folders, pipes and devices are not read, and block nothing', async () => {
  await using it = await workspaceFixture();
  await mkdir(it.at('work/folder'));
  execFileSync('mkfifo', [it.at('work/pipe'), it.at('work/.gitignore')]);
  await symlink('/dev/zero', it.at('work/zero'));
  for (const path of ['folder', 'pipe'])
    await assert.rejects(it.workspace.read(it.workdir, path, LINES), { kind: 'wrong_kind' }, path);
  await assert.rejects(it.workspace.read(it.workdir, 'zero', LINES), NOT_THERE);
  const { entries } = await it.workspace.list(it.workdir, '.', ALL);
  assert.deepEqual(
    entries.map(({ name, kind }) => [name, kind]),
    [
      ['folder', 'folder'],
      ['.gitignore', 'other'],
      ['pipe', 'other'],
      ['zero', 'link'],
    ],
  );
  assert.deepEqual((await it.workspace.find(it.workdir, '', 9)).paths, []);
});

test('a folder that is exchanged for a link while it is read never shows what lies outside', async () => {
  await using it = await workspaceFixture();
  await it.file('work/sub/a.txt', 'harmless');
  await it.file('foreign/a.txt', 'canary');
  await symlink(it.at('foreign'), it.at('work/link'));
  const [real, hidden, other] = [it.at('work/sub'), it.at('work/real'), it.at('work/link')];
  let isOver = false;
  const exchange = async () => {
    while (!isOver) {
      await rename(real, hidden);
      await rename(other, real);
      await rename(real, other);
      await rename(hidden, real);
    }
  };
  const exchanging = exchange();
  const seen = new Set<string>();
  for (let turn = 0; turn < 150; turn += 1) {
    const part = await it.workspace.read(it.workdir, 'sub/a.txt', LINES).catch(() => undefined);
    const listed = await it.workspace.list(it.workdir, 'sub', ALL).catch(() => undefined);
    seen.add(part?.text ?? 'refused');
    for (const { sizeBytes } of listed?.entries ?? []) seen.add(sizeBytes === 8 ? 'harmless' : `${sizeBytes} bytes`);
  }
  isOver = true;
  await exchanging;
  assert.deepEqual(
    [...seen].filter((each) => each !== 'harmless' && each !== 'refused'),
    [],
  );
  assert.equal((await it.workspace.read(it.workdir, 'sub/a.txt', LINES)).text, 'harmless');
});

for (const [how, rg] of [
  ['without', undefined],
  ['with', RG],
] as const)
  test(`files are found by letters of their path, ${how} ripgrep`, rg ? await needs('ripgrep') : {}, async () => {
    await using it = await workspaceFixture(rg);
    await it.file('work/.gitignore', 'dist\n');
    for (const name of [
      'src/page/main.tsx',
      'src/gateway/maintain.ts',
      'README.md',
      'dist/main.js',
      '.env',
      '.git/HEAD',
    ])
      await it.file(`work/${name}`);
    await it.file('added/main.md');
    await symlink(it.at('foreign'), it.at('work/link'));
    await it.file('foreign/main.txt');
    const find = async (query: string, limit = 20) => (await it.workspace.find(it.workdir, query, limit)).paths;
    assert.equal((await find('srcpgmain'))[0], 'src/page/main.tsx');
    assert.deepEqual((await find('main')).toSorted(), [
      it.at('added/main.md'),
      'src/gateway/maintain.ts',
      'src/page/main.tsx',
    ]);
    assert.deepEqual(await find('', 2), ['.gitignore', 'README.md']);
    assert.deepEqual(await find('zzz'), []);
  });

test('lines are taken by their numbers, as far as they fit', () => {
  const bytes = Buffer.from('one\ntwo\nthrée\nfour');
  const take = (offset: number, limit: number, most = 1_000) => {
    const { text, first, last, lines, cut } = takeLines(bytes, { offset, limit }, most);
    return [text, first, last, lines, cut];
  };
  assert.deepEqual(take(1, 10), ['one\ntwo\nthrée\nfour', 1, 4, 4, false]);
  assert.deepEqual(take(2, 2), ['two\nthrée\n', 2, 3, 4, false]);
  assert.deepEqual(take(5, 1), ['', 0, 0, 4, false]);
  assert.deepEqual(take(1, 10, 8), ['one\ntwo\n', 1, 2, 4, false]);
  assert.deepEqual(take(3, 1, 4), ['thr', 3, 3, 4, true], 'half a character is left out');
  assert.deepEqual(takeLines(Buffer.alloc(0), LINES), { text: '', first: 0, last: 0, lines: 0, cut: false });
});
