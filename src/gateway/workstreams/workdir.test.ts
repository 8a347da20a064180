import assert from 'node:assert/strict';
import { existsSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempDir } from '../../testing/temp-store.ts';
import { resolveWorkdir } from './workdir.ts';

/** A person's home with Headgate's in it. */
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
  return { userHome, home, make, policy: { home, userHome, standard: join(home, 'workspace') } };
}

test('the standard folder is made when it is missing, for its owner alone', async (t) => {
  const { policy } = machine(t);
  assert.equal(await resolveWorkdir(policy), policy.standard);
  assert.equal(statSync(policy.standard).mode & 0o777, 0o700);
});

test('a project folder is taken, by its real path', async (t) => {
  const { policy, make, userHome } = machine(t);
  const project = make('project');
  symlinkSync(project, join(userHome, 'link'));
  assert.equal(await resolveWorkdir(policy, join(userHome, 'link')), project);
  assert.equal(await resolveWorkdir(policy, `${project}/../project/`), project);
});

test('a folder that is not there is not made', async (t) => {
  const { policy, userHome } = machine(t);
  await assert.rejects(resolveWorkdir(policy, join(userHome, 'missing')), {
    code: 'INVALID_REQUEST',
    message: `Working directory ${userHome}/missing: it does not exist`,
  });
  assert.equal(existsSync(join(userHome, 'missing')), false);
});

test('what is too much, too little or Headgate’s own is refused, also behind a link', async (t) => {
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

test('a relative standard folder is refused before anything is made', async (t) => {
  const { policy } = machine(t);
  await assert.rejects(resolveWorkdir({ ...policy, standard: 'made-by-a-test' }), { code: 'INVALID_REQUEST' });
  assert.equal(existsSync('made-by-a-test'), false);
});

test('a standard folder elsewhere that does not exist is refused, not made', async (t) => {
  const { policy, userHome } = machine(t);
  const standard = join(userHome, 'mistyped');
  await assert.rejects(resolveWorkdir({ ...policy, standard }), { code: 'INVALID_REQUEST', message: /does not exist/ });
  assert.equal(existsSync(standard), false);
});
