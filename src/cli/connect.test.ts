import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { writeDaemonFile } from '../home/daemon-file.ts';
import { tempDir } from '../testing/temp-store.ts';
import { resolveTarget } from './connect.ts';

const TOKEN = `svc_${'0a'.repeat(32)}`;

const around = (environment: Record<string, string> = {}) => ({ environment, userHome: '/home/ann', cwd: '/work' });

/** A home with the daemon.json of a running daemon. */
async function homeOf(url: string) {
  const home = tempDir();
  await writeDaemonFile(home.path, { url, pid: 1, startedAt: '' });
  await writeFile(path.join(home.path, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  return home;
}

test('by default, the daemon and the token of the home are used', async () => {
  using home = await homeOf('http://127.0.0.1:7717');
  const expected = { url: 'ws://127.0.0.1:7717/', token: TOKEN, tokenFrom: `the home ${home.path}`, home: home.path };
  assert.deepEqual(await resolveTarget({ home: home.path }, around()), expected);
  assert.deepEqual(await resolveTarget({}, around({ HEADGATE_HOME: home.path })), expected);
});

test('an address from the flags wins over one from the environment', async () => {
  using home = await homeOf('http://127.0.0.1:7717');
  const environment = around({ HEADGATE_HOME: home.path, HEADGATE_URL: 'https://b.example', HEADGATE_TOKEN: 'tb' });
  const given = { url: 'http://a.example:1/x', token: 'ta' };
  assert.deepEqual(await resolveTarget(given, environment), {
    url: 'ws://a.example:1/x',
    token: 'ta',
    tokenFrom: '--token',
    home: undefined,
  });
  assert.deepEqual(await resolveTarget({}, environment), {
    url: 'wss://b.example/',
    token: 'tb',
    tokenFrom: 'HEADGATE_TOKEN',
    home: undefined,
  });
});

test('the home’s token is sent only to the home’s own daemon', async () => {
  using home = await homeOf('http://127.0.0.1:7717');
  const tokenFor = async (url: string) => (await resolveTarget({ home: home.path, url }, around())).token;
  assert.equal(await tokenFor('ws://127.0.0.1:7717'), TOKEN);
  assert.equal(await tokenFor('http://127.0.0.1:7718'), undefined);
  assert.equal(await tokenFor('http://evil.example:7717'), undefined);
});

test('a token can be read from a file', async () => {
  using home = tempDir();
  const tokenFile = path.join(home.path, 'secret');
  await writeFile(tokenFile, 'from-a-file\n');
  const given = { url: 'http://a.example:1', home: home.path };
  const environment = around({ HEADGATE_TOKEN: 'from-the-environment' });
  assert.equal((await resolveTarget({ ...given, tokenFile }, environment)).token, 'from-a-file');
  await assert.rejects(resolveTarget({ ...given, tokenFile: '/none' }, environment), {
    name: 'UsageError',
    message: '--token-file /none cannot be read: it does not exist',
  });
  await assert.rejects(resolveTarget({ ...given, tokenFile: '/dev/zero' }, environment), {
    name: 'UsageError',
    message: '--token-file /dev/zero is too large: at most 64 KiB are read.',
  });
});

test('an error names the home’s token file if it contains no token', async () => {
  using home = await homeOf('http://127.0.0.1:7717');
  await writeFile(path.join(home.path, 'token'), 'something else\n');
  await assert.rejects(resolveTarget({ home: home.path }, around()), {
    name: 'StartError',
    exitCode: 1,
    message: `${home.path}/token does not hold a token; move it away and start again to get a new one`,
  });
});

test('without a daemon, the error names the home and what to do', async () => {
  using home = tempDir();
  const message = `No daemon is running in ${home.path}. Start one (headgate start), or say where it is with --url or --home.`;
  await assert.rejects(resolveTarget({ home: home.path }, around()), { name: 'NoDaemonError', exitCode: 3, message });
});

for (const url of ['nonsense', 'ftp://x', 'localhost:7717'])
  test(`${url} is not an address`, async () => {
    using home = tempDir();
    await assert.rejects(resolveTarget({ home: home.path, url }, around()), { name: 'UsageError', exitCode: 2 });
  });

test('an unreadable home is refused in one sentence', async () => {
  using home = tempDir();
  await mkdir(path.join(home.path, 'daemon.json'));
  await assert.rejects(resolveTarget({ home: home.path }, around()), {
    name: 'StartError',
    message: `${home.path}/daemon.json cannot be read: it is not a file.`,
  });
});
