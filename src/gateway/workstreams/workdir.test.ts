import assert from 'node:assert/strict';
import { existsSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { findBarrier, resolveWorkdir } from './workdir.ts';

/** A user's home with Headgate's home in it. */
function machine(t: TestContext) {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const userHome = join(realpathSync(dir.path), 'ada');
  const home = join(userHome, '.headgate');
  mkdirSync(home, { recursive: true });
  const make = (path: string) => {
    mkdirSync(join(userHome, path), { recursive: true });
    return join(userHome, path);
  };
  return {
    userHome,
    home,
    make,
    policy: { home, userHome, standard: join(home, 'workspace'), otherHomes: [], uid: process.getuid?.() },
  };
}

test('the default folder is created when missing, for its owner only', async (t) => {
  const { policy } = machine(t);
  assert.equal((await resolveWorkdir(policy)).path, policy.standard);
  assert.equal(statSync(policy.standard).mode & 0o777, 0o700);
});

test('a project folder is accepted, by its real path', async (t) => {
  const { policy, make, userHome } = machine(t);
  const project = make('project');
  symlinkSync(project, join(userHome, 'link'));
  assert.deepEqual(await resolveWorkdir(policy, join(userHome, 'link')), {
    path: project,
    ino: String(statSync(project).ino),
  });
  assert.equal((await resolveWorkdir(policy, `${project}/../project/`)).path, project);
});

test('a missing folder is not created', async (t) => {
  const { policy, userHome } = machine(t);
  await assert.rejects(resolveWorkdir(policy, join(userHome, 'missing')), {
    code: 'INVALID_REQUEST',
    message: `Working directory ${userHome}/missing: it does not exist`,
  });
  assert.equal(existsSync(join(userHome, 'missing')), false);
});

test('the reason why a folder cannot be opened is worded for people', async (t) => {
  const { policy, userHome } = machine(t);
  writeFileSync(join(userHome, 'file'), '');
  symlinkSync('circle', join(userHome, 'circle'));
  for (const [asked, why] of [
    [join(userHome, 'file/below'), 'a part of its path is not a folder'],
    [join(userHome, 'circle'), 'its symbolic links form a loop'],
    [join(userHome, 'x'.repeat(300)), 'its name is too long'],
  ] as const) {
    await assert.rejects(resolveWorkdir(policy, asked), { message: `Working directory ${asked}: ${why}` });
  }
});

test('folders that are too large, files, and Headgate’s own folder are refused, also behind a link', async (t) => {
  const { policy, home, userHome, make } = machine(t);
  writeFileSync(join(userHome, 'file'), '');
  symlinkSync(home, join(userHome, 'sly'));
  make('.headgate/outputs');
  make('.headgate-not-ours');
  for (const [asked, why] of [
    ['/', 'it is the whole disk'],
    [userHome, 'it is your home folder; choose a project folder in it'],
    [join(userHome, '..'), 'it contains Headgate’s own folder'],
    [home, 'it is Headgate’s own folder'],
    [join(home, 'outputs'), 'it is Headgate’s own folder'],
    [join(userHome, 'sly'), 'it is Headgate’s own folder'],
    [join(userHome, 'file'), 'it is not a directory'],
    ['project', 'it must be an absolute path'],
  ] as const) {
    await assert.rejects(resolveWorkdir(policy, asked), { message: `Working directory ${asked}: ${why}` });
  }
  await resolveWorkdir(policy, join(userHome, '.headgate-not-ours'));
});

test('a relative default folder is refused before anything is created', async (t) => {
  const { policy } = machine(t);
  await assert.rejects(resolveWorkdir({ ...policy, standard: 'made-by-a-test' }), { code: 'INVALID_REQUEST' });
  assert.equal(existsSync('made-by-a-test'), false);
});

test('a missing default folder outside our home is refused and not created', async (t) => {
  const { policy, userHome } = machine(t);
  const standard = join(userHome, 'mistyped');
  await assert.rejects(resolveWorkdir({ ...policy, standard }), { code: 'INVALID_REQUEST', message: /does not exist/ });
  assert.equal(existsSync(standard), false);
});

const ADA = {
  home: '/home/ada/.headgate',
  userHome: '/home/ada',
  standard: '/home/ada/.headgate/workspace',
  uid: 1_000,
};

test('system folders, folders that contain them, and homes of others are refused', async (t) => {
  const { home } = machine(t);
  const policy = { ...ADA, home, otherHomes: ['/srv/people/bob'] };
  const refused = {
    'it is a system folder': [
      '/etc',
      '/etc/ssh',
      '/root',
      '/proc/1',
      '/sys',
      '/dev/shm',
      '/run/user',
      '/boot',
      '/usr/lib',
      '/var/lib/x',
    ],
    'it contains system folders': ['/var'],
    'it contains your home folder': ['/home'],
    'it contains the home folders of users': ['/srv/people', '/srv', '/Users'],
    'it is in the home folder of another user': ['/srv/people/bob', '/srv/people/bob/src', '/home/nobody-there/src'],
  };
  for (const [why, folders] of Object.entries(refused)) {
    for (const folder of folders) assert.equal(await findBarrier(policy, folder), why, folder);
  }
  for (const folder of ['/home/ada/src', '/srv/site', '/tmp/x', '/opt/x', '/var/tmp/x', '/varied', '/etcetera']) {
    assert.equal(await findBarrier(policy, folder), undefined, folder);
  }
});

test('below the home folder of the daemon’s user the usual rules apply, even in a system folder', async (t) => {
  const { home } = machine(t);
  for (const userHome of ['/root', '/var/lib/headgate']) {
    const policy = { ...ADA, home, userHome, otherHomes: [] };
    assert.equal(await findBarrier(policy, `${userHome}/src`), undefined);
    assert.match((await findBarrier(policy, userHome)) ?? '', /home folder/);
    assert.equal(await findBarrier(policy, '/etc'), 'it is a system folder');
  }
  for (const userHome of ['/', '/var', '/var/lib', '/etc']) {
    const policy = { ...ADA, home, userHome, otherHomes: [] };
    assert.equal(await findBarrier(policy, '/var/lib/x'), 'it is a system folder', userHome);
  }
});
