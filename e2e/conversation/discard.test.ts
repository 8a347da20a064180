import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../../src/testing/needs.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { daemon, model } = await openStage();
const needsGit = await needs('git');
const run = promisify(execFile);
/** The tests' own git runs none of the programs that they plant. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

model.when('write', callTools({ name: 'bash', arguments: { command: 'echo run > by-run.txt' } }), say('WRITTEN'));

/** A workstream in a repository with one commit, and changes of several kinds since. */
async function inRepository() {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-discard-')));
  after(() => rm(root, { recursive: true, force: true }));
  const at = (name: string) => path.join(root, 'work', name);
  await mkdir(at('src'), { recursive: true });
  await writeFile(at('src/a.ts'), 'one\n');
  await writeFile(at('gone.txt'), 'gone\n');
  await writeFile(at('data.bin'), Buffer.from([0, 1, 2]));
  const git = async (...args: string[]) =>
    (await run('git', [...SAFE, '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], { cwd: at('.') })).stdout;
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-qm', 'first');
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { workdir: at('.'), autoApprove: true });
  const route = `/v1/api/workstreams/${wsId}`;
  return {
    ...{ root, at, git, client, wsId, route },
    read: (name: string) => readFile(at(name), 'utf8').catch(() => undefined),
    async seen(file: string): Promise<string> {
      const { seen } = await client.call('file.diff', { wsId, path: file });
      return seen ?? assert.fail(`${file} cannot be put back`);
    },
    discard: (file: string, seen: string, more = {}) =>
      client.call('file.discard', { wsId, path: file, seen, ...more }),
    /** Puts a file back as it is now. */
    async back(file: string) {
      return this.discard(file, await this.seen(file));
    },
  };
}

test(
  'A changed file must be put back to the last commit while it is what the caller saw, and an undo must bring it back',
  needsGit,
  async () => {
    const it = await inRepository();
    await writeFile(it.at('src/a.ts'), 'two\n');
    await chmod(it.at('src/a.ts'), 0o755);
    await rename(it.at('gone.txt'), it.at('renamed.txt'));
    await writeFile(it.at('data.bin'), Buffer.from([0, 9]));
    await mkdir(it.at('new'));
    await writeFile(it.at('new/n.txt'), 'new\n');
    const { body } = await daemon.get(`${it.route}/files/diff?path=src/a.ts`);
    await writeFile(it.at('src/a.ts'), 'three\n');
    const late = await daemon.post(`${it.route}/files/discard`, { path: 'src/a.ts', seen: body.seen });
    assert.deepEqual(
      [late.status, late.body.error, await it.read('src/a.ts')],
      [409, 'src/a.ts has changed since you looked at it. Nothing was changed.', 'three\n'],
    );
    const key = { idempotencyKey: `once ${it.wsId}` };
    const seen = await it.seen('src/a.ts');
    const done = await it.discard('src/a.ts', seen, key);
    const { mode } = await lstat(it.at('src/a.ts'));
    assert.deepEqual([done.changed, await it.read('src/a.ts'), mode & 0o111], [['src/a.ts'], 'one\n', 0]);
    assert.deepEqual(await it.discard('src/a.ts', seen, key), done, 'the same key puts it back once');
    await assert.rejects(it.discard('src/a.ts', seen), { code: 'CONFLICT', message: /^Git reports no change/ });
    for (const file of ['gone.txt', 'renamed.txt', 'data.bin', 'new/n.txt']) await it.back(file);
    assert.deepEqual(
      [
        await it.read('gone.txt'),
        existsSync(it.at('renamed.txt')),
        existsSync(it.at('new')),
        await it.git('status', '-s'),
      ],
      ['gone\n', false, false, ''],
    );
    const { checkpoints } = await it.client.call('checkpoint.list', { wsId: it.wsId });
    assert.deepEqual(
      checkpoints.map(({ state, files, discard }) => [state, files, discard]),
      Array.from({ length: 5 }, () => ['done', 1, true]),
    );
    const [runId] = done.runIds;
    const { files } = await it.client.call('checkpoint.diff', { wsId: it.wsId, runId });
    assert.match(files[0]?.diff ?? '', /^-three\n\+one$/m);
    await daemon.kill9();
    await daemon.restart();
    const back = await daemon.post(`${it.route}/undo`, { run_id: runId, path: 'src/a.ts' });
    assert.deepEqual([back.status, back.body.changed, await it.read('src/a.ts')], [200, ['src/a.ts'], 'three\n']);
    await (await daemon.client()).call('checkpoint.undo', { wsId: it.wsId });
    assert.equal(await it.read('new/n.txt'), 'new\n', 'an undo takes back the last change, which was this one');
  },
);

test(
  'Putting a file back must change neither the repository nor a file outside its folder, and must run no program that the repository names',
  needsGit,
  async () => {
    const it = await inRepository();
    await writeFile(it.at('program'), `#!/bin/sh\ntouch ${it.root}/ran\n`);
    await chmod(it.at('program'), 0o755);
    for (const key of ['core.fsmonitor', 'filter.x.smudge', 'filter.x.clean', 'filter.x.process', 'diff.external'])
      await it.git('config', key, it.at('program'));
    await it.git('config', 'core.hooksPath', it.at('.'));
    for (const hook of ['post-checkout', 'post-index-change'])
      await writeFile(it.at(hook), `#!/bin/sh\ntouch ${it.root}/ran\n`, { mode: 0o755 });
    await writeFile(it.at('src/a.ts'), 'staged\n');
    await it.git('add', 'src/a.ts');
    await rm(path.join(it.root, 'ran'), { force: true });
    await writeFile(it.at('src/a.ts'), 'later\n');
    const index = await readFile(it.at('.git/index'));
    await it.back('src/a.ts');
    assert.deepEqual(await readFile(it.at('.git/index')), index);
    assert.deepEqual([await it.read('src/a.ts'), await it.git('show', ':src/a.ts')], ['one\n', 'staged\n']);
    await writeFile(it.at('src/a.ts'), 'changed\n');
    await writeFile(it.at('.gitattributes'), '* filter=x diff=x\n');
    await rm(path.join(it.root, 'ran'), { force: true });
    await assert.rejects(it.back('src/a.ts'), { code: 'INVALID_REQUEST', message: /comes from a filter \(x\)/ });
    await rm(it.at('.gitattributes'));
    const outside = path.join(it.root, 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'a.ts'), 'canary\n');
    const seen = await it.seen('src/a.ts');
    await rename(it.at('src'), it.at('moved'));
    await symlink(outside, it.at('src'));
    await assert.rejects(it.discard('src/a.ts', seen), { code: 'NOT_FOUND' });
    const deleted = await it.seen('src/a.ts');
    await assert.rejects(it.discard('src/a.ts', deleted), { code: 'NOT_FOUND' });
    await rm(it.at('src'));
    await symlink('moved', it.at('src'));
    await assert.rejects(it.discard('src/a.ts', deleted), { code: 'INVALID_REQUEST', message: /is a link now/ });
    for (const file of [
      '../outside/a.ts',
      path.join(outside, 'a.ts'),
      '/etc/passwd',
      '.',
      path.join(daemon.home, 'token'),
    ])
      await assert.rejects(it.discard(file, deleted), { code: 'NOT_FOUND' }, file);
    await assert.rejects(it.discard('.git/config', deleted), { code: 'CONFLICT' });
    assert.equal(await readFile(path.join(outside, 'a.ts'), 'utf8'), 'canary\n');
    assert.equal(existsSync(path.join(it.root, 'ran')), false);
    await rename(it.at('.git/index'), it.at('.git/whole'));
    await writeFile(it.at('.git/index'), 'damaged');
    await assert.rejects(it.discard('data.bin', deleted), { code: 'INVALID_REQUEST', message: /^Git could not read/ });
  },
);

test(
  'A file must be put back, taken back or brought back only for callers with the scope `write` who perceive the workstream',
  needsGit,
  async () => {
    const it = await inRepository();
    const password = 'correct horse';
    const person = async (username: string, role: string) => {
      const body = { username, display_name: username, password };
      const setup = await askApi(daemon, ['POST', 'auth/setup'], { body });
      const admin = setup.status === 200 ? setup : await login('ada');
      if (setup.status !== 200)
        await askApi(daemon, ['POST', 'admin/users'], { body: { ...body, roles: [role] }, token: admin.body.jwt });
      return (await login(username)).body.jwt;
    };
    const login = (username: string) => askApi(daemon, ['POST', 'auth/login'], { body: { username, password } });
    await person('ada', 'builtin-admin');
    const [viewer, operator] = [await person('vera', 'builtin-viewer'), await person('otto', 'builtin-operator')];
    const { runId = '' } = await it.client.call('workstream.send', { wsId: it.wsId, message: 'write' });
    await it.client.call('agent.wait', { runId, timeoutMs: 60_000 });
    await writeFile(it.at('src/a.ts'), 'two\n');
    const seen = await it.seen('src/a.ts');
    const tries = (token: string) =>
      Promise.all(
        (
          [
            ['files/discard', { path: 'src/a.ts', seen }],
            ['undo', { run_id: runId, path: 'by-run.txt' }],
            ['redo', { run_id: runId, path: 'by-run.txt' }],
          ] as const
        ).map(async ([rest, body]) => {
          const { status } = await askApi(daemon, ['POST', `workstreams/${it.wsId}/${rest}`], { body, token });
          return status;
        }),
      );
    const forbidden = [403, 403, 403];
    assert.deepEqual(await tries(viewer), forbidden, 'read rights only');
    await it.client.call('workstream.share', { wsId: it.wsId, visibility: 'private' });
    assert.deepEqual(await tries(operator), [404, 404, 404], 'who does not see it');
    assert.deepEqual(await tries('nobody'), [401, 401, 401]);
    assert.deepEqual([await it.read('src/a.ts'), await it.read('by-run.txt')], ['two\n', 'run\n']);
    await it.client.call('workstream.share', { wsId: it.wsId, visibility: 'shared' });
    const body = { path: 'src/a.ts', seen };
    const own = await askApi(daemon, ['POST', `workstreams/${it.wsId}/files/discard`], { body, token: operator });
    assert.deepEqual([own.status, await it.read('src/a.ts')], [200, 'one\n']);
    const { events } = await it.client.call('audit.list', { action: 'file.discard' });
    const [event] = events.filter(({ resourceId }) => resourceId === it.wsId);
    assert.equal(JSON.parse(event?.detail ?? '{}').path, 'src/a.ts');
  },
);

test('Of two callers who put a file back at once, one must succeed, and the other must be told', needsGit, async () => {
  const it = await inRepository();
  await writeFile(it.at('src/a.ts'), 'two\n');
  const seen = await it.seen('src/a.ts');
  const answers = await Promise.all(
    [1, 2].map(() => daemon.post(`${it.route}/files/discard`, { path: 'src/a.ts', seen })),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const stalled = stall();
  model.when('slow', [stalled, say('SLOW')]);
  await writeFile(it.at('src/a.ts'), 'three\n');
  const then = await it.seen('src/a.ts');
  const { runId = '' } = await it.client.call('workstream.send', { wsId: it.wsId, message: 'slow' });
  await stalled.reached;
  await assert.rejects(it.discard('src/a.ts', then), { code: 'BUSY' });
  stalled.release();
  await it.client.call('agent.wait', { runId, timeoutMs: 60_000 });
  assert.equal(await it.read('src/a.ts'), 'three\n');
  await it.git('commit', '-qam', 'kept');
  await writeFile(it.at('src/a.ts'), 'three\n');
  await it.git('commit', '-q', '--allow-empty', '-m', 'same');
  await writeFile(it.at('src/a.ts'), 'three\nfour\n');
  await assert.rejects(it.discard('src/a.ts', then), { code: 'CONFLICT' }, 'the last commit is another one');
});

test('A file in a submodule must be neither listed as a change of its folder nor put back', needsGit, async () => {
  const it = await inRepository();
  await mkdir(it.at('part'));
  await writeFile(it.at('part/inner.ts'), 'one\n');
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'inner'],
  ])
    await it.git('-C', 'part', ...words);
  await it.git('add', 'part');
  await it.git('commit', '-qm', 'with a submodule');
  await writeFile(it.at('part/inner.ts'), 'two\n');
  await writeFile(it.at('src/a.ts'), 'two\n');
  const { body } = await daemon.get(`${it.route}/files/changes`);
  assert.deepEqual(
    body.repositories.flatMap(({ files }: { files: { path: string }[] }) => files.map(({ path: changed }) => changed)),
    ['src/a.ts'],
  );
  const seen = await it.seen('src/a.ts');
  for (const file of ['part', 'part/inner.ts'])
    await assert.rejects(it.discard(file, seen), { code: 'CONFLICT', message: /^Git reports no change of part/ }, file);
  await it.discard('src/a.ts', seen);
  assert.deepEqual([await it.read('part/inner.ts'), await it.read('src/a.ts')], ['two\n', 'one\n']);
});

test('the command line takes back one file of a run, and puts a file back to the last commit', needsGit, async () => {
  const it = await inRepository();
  const env = { HEADGATE_HOME: daemon.home };
  const headgate = async (...words: string[]) => {
    const { code, stdout, stderr } = await runHeadgate([...words, '--workstream', it.wsId], env);
    return { code, stdout, stderr };
  };
  const { runId = '' } = await it.client.call('workstream.send', { wsId: it.wsId, message: 'write' });
  await it.client.call('agent.wait', { runId, timeoutMs: 60_000 });
  await writeFile(it.at('src/a.ts'), 'two\n');
  assert.deepEqual(await headgate('undo', '--file', 'by-run.txt'), { code: 0, stdout: 'by-run.txt\n', stderr: '' });
  assert.equal(await it.read('by-run.txt'), undefined);
  assert.deepEqual(await headgate('redo', '--file', 'by-run.txt', '--run', runId), {
    ...{ code: 0, stdout: 'by-run.txt\n', stderr: '' },
  });
  const asked = await headgate('discard', 'src/a.ts');
  assert.deepEqual([asked.code, asked.stdout, await it.read('src/a.ts')], [2, '', 'two\n'], 'there is no terminal');
  const done = await headgate('discard', 'src/a.ts', '--yes');
  assert.deepEqual([done.code, done.stdout, await it.read('src/a.ts')], [0, 'src/a.ts\n', 'one\n']);
  const back = /^To bring it back: headgate (undo --run \S+ --file src\/a\.ts)$/m.exec(done.stderr)?.[1] ?? '';
  assert.equal((await headgate(...back.split(' '))).code, 0);
  assert.equal(await it.read('src/a.ts'), 'two\n');
  const none = await headgate('undo', '--file', 'nobody.txt');
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.equal((await headgate('undo', '--file', 'a.txt', '--keep')).code, 2);
});
