import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findMachinePlaces } from './machine-places.ts';

async function makeHomes(t: TestContext) {
  const homes = await realpath(await mkdtemp(join(tmpdir(), 'headgate-places-')));
  t.after(() => rm(homes, { recursive: true, force: true }));
  const user = join(homes, 'user');
  for (const name of ['.ssh', '.cargo/bin', 'tools']) await mkdir(join(user, name), { recursive: true });
  return { homes, user };
}

test('folders of programs and certificates in a home are shown, but never a folder that holds a whole home', async (t) => {
  const { homes, user } = await makeHomes(t);
  await symlink(user, join(user, 'bin')); // a usual place of programs that leads back
  const environment = {
    PATH: `/usr/bin:${join(user, 'tools')}:${user}:${homes}`,
    HOME: user,
    SSL_CERT_DIR: `${user}/.`,
  };
  const places = await findMachinePlaces({ environment, homes: [homes] });
  assert.ok(places.emptied.includes(homes));
  assert.deepEqual(places.shown, [join(user, 'tools'), join(user, '.cargo/bin')]);
  assert.deepEqual(places.keptHidden, [user, homes]);
});

test('an ordinary PATH keeps nothing hidden that programs need', async (t) => {
  const { homes, user } = await makeHomes(t);
  const environment = { PATH: `/usr/bin:/bin:${join(user, 'tools')}:/`, HOME: user };
  assert.deepEqual((await findMachinePlaces({ environment, homes: [homes] })).keptHidden, []);
});
