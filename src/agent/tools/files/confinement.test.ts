import assert from 'node:assert/strict';
import { link as hardLink, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createToolFixture } from '../tool-fixture.ts';
import { createConfinement } from './confinement.ts';

async function start() {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  await fixture.file('work/src/a.ts', '');
  await fixture.file('outside/b.txt', '');
  await fixture.file('home/token', 'canary');
  return {
    ...fixture,
    link: (from: string, to: string) => symlink(to, join(fixture.root, from)),
    locate: async (path: string, workdir = fixture.workdir) => confinement.locate(path, await fixture.hold(workdir)),
    /** The relevant fields of a place. */
    async see(path: string, workdir = fixture.workdir) {
      const place = await confinement.locate(path, await fixture.hold(workdir));
      if (place.kind === 'refused') return 'refused';
      return `${place.shown}${place.exists ? '' : ' new'}${place.isOutside ? ' outside' : ''}${place.isSecret ? ' secret' : ''}`;
    },
  };
}

test('a path inside the workdir needs no approval, existing or not, however it is written', async () => {
  await using it = await start();
  const { base, ...place } = await it.locate('src/../src//a.ts').then((found) => {
    return found.kind === 'allowed' ? found : assert.fail(found.reason);
  });
  assert.equal(base?.path, it.workdir);
  assert.deepEqual(place, {
    kind: 'allowed',
    path: join(it.workdir, 'src/a.ts'),
    shown: 'src/a.ts',
    exists: true,
    isOutside: false,
    isSecret: false,
    isHardLink: false,
  });
  assert.equal(await it.see(join(it.workdir, 'src/a.ts')), 'src/a.ts');
  assert.equal(await it.see('new/deep/file.txt'), 'new/deep/file.txt new');
  assert.equal(await it.see('.'), '.');
  assert.equal(await it.see('..a'), '..a new');
});

test('a path that leads outside is recognised, by dots, by name or by a link anywhere in it', async () => {
  await using it = await start();
  const outside = join(it.root, 'outside/b.txt');
  await it.link('work/file-link', outside);
  await it.link('work/folder-link', join(it.root, 'outside'));
  await it.link('work/link-to-link', 'folder-link');
  for (const path of ['../outside/b.txt', outside, 'file-link', 'folder-link/b.txt', 'link-to-link/b.txt']) {
    assert.equal(await it.see(path), `${outside} outside`, path);
  }
  assert.equal(await it.see('folder-link/new.txt'), `${join(it.root, 'outside/new.txt')} new outside`);
  assert.equal(await it.see(`${it.workdir}-sibling/x`), `${it.workdir}-sibling/x new outside`);
});

test("Headgate's home is refused, however it is reached", async () => {
  await using it = await start();
  await it.link('work/home-link', it.home);
  await it.link('work/token-link', join(it.home, 'token'));
  for (const path of [
    '../home',
    '../home/token',
    join(it.home, 'new'),
    'home-link/token',
    'token-link',
    '../home/x/y',
  ]) {
    assert.equal(await it.see(path), 'refused', path);
  }
});

test('a workdir inside the home needs no approval, and the rest of the home stays refused', async () => {
  await using it = await start();
  const workspace = join(it.home, 'workspace');
  await mkdir(workspace);
  await mkdir(join(it.home, 'workspace2'));
  assert.equal(await it.see('new.txt', workspace), 'new.txt new');
  for (const path of ['../token', '..', '../workspace2/x'])
    assert.equal(await it.see(path, workspace), 'refused', path);
});

test('a home inside the workdir is refused, and so is everything when the workdir is the home', async () => {
  await using it = await start();
  assert.equal(await it.see('home/token', it.root), 'refused');
  assert.equal(await it.see('work/src/a.ts', it.root), 'work/src/a.ts');
  assert.equal(await it.see('anything', it.home), 'refused');
});

test('a dangling link, a loop, a file used as a folder and a NUL character are refused', async () => {
  await using it = await start();
  await it.link('work/dangling', join(it.root, 'outside/not-there'));
  await it.link('work/loop', 'loop');
  for (const path of ['dangling', 'dangling/x', 'loop', 'src/a.ts/x', 'a\0b', '']) {
    assert.equal(await it.see(path), 'refused', path);
  }
});

test('kernel folders are refused, because they contain the environment of the daemon', async () => {
  await using it = await start();
  for (const path of ['/proc/self/environ', '/dev/zero', '/sys/kernel'])
    assert.equal(await it.see(path), 'refused', path);
});

test('a secret is recognised by its real name and by the requested name', async () => {
  await using it = await start();
  await it.file('work/.env', 'A=1');
  await it.link('work/harmless.txt', '.env');
  await it.link('work/.npmrc', 'src/a.ts');
  await hardLink(join(it.home, 'token'), join(it.workdir, 'hard.txt'));
  assert.equal(await it.see('hard.txt'), 'hard.txt secret');
  assert.equal(await it.see('.env'), '.env secret');
  assert.equal(await it.see('harmless.txt'), '.env secret');
  assert.equal(await it.see('.npmrc'), 'src/a.ts secret');
});
