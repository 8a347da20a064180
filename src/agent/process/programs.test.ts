import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toChildPath } from './child-path.ts';
import { findProgram, type ProgramSearch, STANDARD_PATH, whyNot } from './programs.ts';

const uid = process.getuid?.();
const search = (PATH: string, more: Partial<ProgramSearch> = {}): ProgramSearch => ({
  ...{ environment: { PATH }, avoid: [], uid, platform: process.platform },
  ...more,
});

async function layOut(t: TestContext) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'headgate-programs-')));
  t.after(() => rm(root, { recursive: true, force: true }));
  const put = async (folder: string) => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, 'bash'), '#!/bin/sh\n', { mode: 0o755 });
    return join(root, folder);
  };
  return { root, put };
}

test('the system’s program is preferred to entries where one could be planted, and its path has no links', async (t) => {
  const { put, root } = await layOut(t);
  const own = await put('bin');
  await symlink(own, join(root, 'link'));
  const found = await findProgram('bash', search(['', '.', own, join(root, 'link'), STANDARD_PATH].join(':')));
  assert.deepEqual(found, { kind: 'found', path: await realpath(found.kind === 'found' ? found.path : '/') });
  assert.match(found.kind === 'found' ? found.path : '', /^\/(usr\/|nix\/|gnu\/)?.*bin\/bash$/);
});

test('if no program is acceptable, the first one is named with its problem', async (t) => {
  const { put, root } = await layOut(t);
  const packages = await put('project/node_modules/.bin');
  const danger = async (PATH: string, more?: Partial<ProgramSearch>) => {
    const program = await findProgram('bash', search(PATH, more));
    return program.kind === 'unsafe' ? program.danger : program.kind;
  };
  assert.deepEqual(await danger(`${packages}:${await put('bin')}`), { kind: 'packages', at: packages });
  const open = await put('open');
  await chmod(open, 0o777);
  const opened = await danger(open);
  assert.ok(typeof opened === 'object' && opened.kind === 'others');
  assert.equal(await danger(join(root, 'nothing')), 'missing');
  await mkdir(join(root, 'folder/bash'), { recursive: true });
  assert.equal(await danger(join(root, 'folder')), 'missing');
});

test('a folder of the user is ignored, unless it is accepted and no agent writes to it', async (t) => {
  const { root, put } = await layOut(t);
  const own = await put('bin');
  const file = join(own, 'bash');
  const user = { uid: uid || 1_000 }; // even if root runs the tests
  const danger = { kind: 'own', at: file };
  assert.deepEqual(await findProgram('bash', search(own, user)), { kind: 'unsafe', path: file, danger });
  const accepted = await findProgram('bash', search(own, { ...user, acceptOwn: true }));
  assert.deepEqual(accepted, { kind: 'found', path: file });
  const within = await findProgram('bash', search(own, { ...user, acceptOwn: true, avoid: [root] }));
  assert.deepEqual(within.kind === 'unsafe' && within.danger, { kind: 'workdir', at: root });
});

test('for root only system folders are accepted, because root can change everything', async (t) => {
  const { put } = await layOut(t);
  const found = await findProgram('bash', search(`${await put('bin')}:${STANDARD_PATH}`, { uid: 0 }));
  assert.match(found.kind === 'found' ? found.path : found.kind, /^\/(usr|bin|nix|gnu)/);
});

test('a link that others can change is not followed, wherever it leads', async (t) => {
  const { root } = await layOut(t);
  const system = await findProgram('bash', search(STANDARD_PATH));
  assert.equal(system.kind, 'found');
  await mkdir(join(root, 'links'));
  if (system.kind === 'found') await symlink(system.path, join(root, 'links/bash'));
  const found = await findProgram('bash', search(join(root, 'links')));
  assert.equal(found.kind, 'unsafe');
});

test('the reason why a program is not used is a single clause', () => {
  const path = '/p/rg';
  const words = (['packages', 'others', 'own', 'workdir'] as const).map((kind) =>
    whyNot({ kind: 'unsafe', path, danger: { kind, at: '/p' } }),
  );
  assert.deepEqual(
    [whyNot({ kind: 'missing' }), whyNot({ kind: 'unsafe', path: 'rg', danger: { kind: 'relative' } }), ...words],
    [
      'is not installed',
      'was found only at rg and is not used: the PATH entry is not an absolute path',
      'was found only at /p/rg and is not used: /p belongs to a project',
      'was found only at /p/rg and is not used: other users can change /p',
      'was found only at /p/rg and is not used: programs of this user can change /p',
      'was found only at /p/rg and is not used: /p lies in a working directory',
    ],
  );
});

test('a child’s PATH has no relative entries, and entries where programs can be planted come last', async (t) => {
  const work = await realpath(await mkdtemp('/var/tmp/headgate-path-'));
  t.after(() => rm(work, { recursive: true, force: true }));
  const packages = '/srv/project/node_modules/.bin';
  const entries = ['', '.', 'bin', `${work}/later/bin`, packages, '/usr/bin'];
  assert.equal(await toChildPath(entries.join(':'), [work]), ['/usr/bin', `${work}/later/bin`, packages].join(':'));
  assert.equal(await toChildPath(`${work}/bin`, [work]), `${STANDARD_PATH}:${work}/bin`);
  assert.deepEqual([await toChildPath(undefined, []), await toChildPath('', [])], [STANDARD_PATH, STANDARD_PATH]);
});
