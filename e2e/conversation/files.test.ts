import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../src/testing/needs.ts';
import { openStage } from '../support/daemon/stage.ts';
import { mountSmallDisk } from '../support/faults/full-disk.ts';

const { daemon } = await openStage();
const run = promisify(execFile);

/** A workstream in a folder of its own. */
async function inFolder() {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-files-')));
  after(() => rm(root, { recursive: true, force: true }));
  const at = (name: string) => path.join(root, 'work', name);
  await mkdir(at('src'), { recursive: true });
  await writeFile(at('src/a.ts'), 'one\ntwo\nthree\n');
  await writeFile(at('.env'), 'KEY=canary\n');
  await writeFile(path.join(root, 'outside.txt'), 'canary\n');
  await symlink(path.join(root, 'outside.txt'), at('link.txt'));
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { workdir: at('.') });
  const get = (rest: string) => daemon.get(`/v1/api/workstreams/${wsId}/files${rest}`);
  return { root, at, get };
}

test('The files of a workstream must be listed, found and read by lines', async () => {
  const { get, at } = await inFolder();
  const { body } = await get('');
  assert.deepEqual(
    [body.path, body.folders, body.total, body.entries.map((entry: { name: string }) => entry.name)],
    ['.', [path.dirname(at('x'))], 3, ['src', '.env', 'link.txt']],
  );
  const { modified, ...entry } = (await get('?path=src')).body.entries[0];
  const named = { name: 'a.ts', path: 'src/a.ts', kind: 'file', size: 14, ignored: false, secret: false };
  assert.deepEqual(entry, named);
  assert.match(modified, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual((await get('/find?query=sa')).body, { paths: ['src/a.ts'], complete: true });
  const read = (await get('/content?path=src/a.ts&offset=2&limit=1')).body;
  assert.deepEqual([read.text, read.first, read.last, read.lines, read.cut], ['two\n', 2, 2, 3, false]);
  assert.equal((await get('/content?path=src/a.ts&limit=5001')).status, 400);
});

test('A file outside the folders of a workstream must answer 404, also through a link, and a file with secrets must be answered without its text', async () => {
  const { get } = await inFolder();
  for (const name of ['link.txt', '../outside.txt', '/etc/passwd', path.join(daemon.home, 'headgate.db'), 'missing'])
    assert.equal((await get(`/content?path=${encodeURIComponent(name)}`)).status, 404, name);
  assert.equal((await get('?path=..')).status, 404);
  const { text, without } = (await get('/content?path=.env')).body;
  assert.deepEqual([text, without], [undefined, 'secret']);
});

test('a folder with a file whose time is beyond the last date is listed', await needs('small disks'), async () => {
  using disk = mountSmallDisk(1);
  await writeFile(path.join(disk.folder, 'far'), 'x');
  await run('touch', ['-d', '@99999999999999', path.join(disk.folder, 'far')]);
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { workdir: disk.folder });
  const { status, body } = await daemon.get(`/v1/api/workstreams/${wsId}/files`);
  assert.deepEqual([status, body.entries?.[0]?.modified], [200, '+275760-09-13T00:00:00.000Z']);
  assert.equal((await daemon.get(`/v1/api/workstreams/${wsId}/files/content?path=far`)).body.text, 'x');
});

test(
  'What git reports as changed must be listed, and a changed file must be compared, without running a program that the repository names',
  await needs('git'),
  async () => {
    const { root, get, at } = await inFolder();
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], { cwd: at('.') });
    await git('init', '-q', '-b', 'main');
    await git('add', 'src');
    await git('commit', '-qm', 'first');
    await writeFile(at('program'), `#!/bin/sh\ntouch ${path.join(root, 'ran')}\ncat\n`);
    await chmod(at('program'), 0o755);
    for (const key of ['core.fsmonitor', 'filter.x.clean', 'diff.external', 'diff.x.textconv'])
      await git('config', key, at('program'));
    await writeFile(at('.gitattributes'), '* filter=x diff=x\n');
    await writeFile(at('src/a.ts'), 'one\nTWO\nthree\n');
    const { repositories } = (await get('/changes')).body;
    assert.deepEqual(
      [repositories[0].path, repositories[0].branch, repositories[0].files[0]],
      ['.', 'main', { path: 'src/a.ts', unstaged: 'modified' }],
    );
    const { additions, deletions, diff } = (await get('/diff?path=src/a.ts')).body;
    assert.deepEqual([additions, deletions], [1, 1]);
    assert.match(diff, /^-two\n\+TWO$/m);
    assert.equal((await get('/diff?path=src/b.ts')).status, 404);
    await assert.rejects(readFile(path.join(root, 'ran')), { code: 'ENOENT' });
  },
);
