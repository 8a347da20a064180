import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { listen } from '../../listen.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { Config } from './config.ts';
import { createStartCheck } from './start-check.ts';

const BEFORE = Config.parse({});

function setUp({ authEnabled = true, port = 7717 } = {}) {
  const home = tempDir();
  const check = createStartCheck({
    ...{ home: home.path, userHome: '/home/ada', uid: 1_000, authEnabled, port },
    environment: {},
  });
  return {
    told: async (asked: object, before: Config | undefined = BEFORE) =>
      (await check(Config.parse(asked), before)).map(({ path, message }) => `${path}: ${message}`),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

test('a value that the start refuses is told with its setting, in the words of the start', async () => {
  using world = setUp();
  for (const [asked, ...problems] of [
    [{ workdir: '/etc' }, 'workdir: Working directory /etc: it is a system folder'],
    [{ workdir: '/home/none/here' }, 'workdir: Working directory /home/none/here: it does not exist'],
    [
      { server: { host: 'not a host' } },
      'server.host: "not a host" is not a host. Use an address or a name, such as 127.0.0.1.',
    ],
    [{ server: { host: '192.0.2.1' } }, 'server.host: This machine has no address 192.0.2.1 (--host).'],
    [{ defaultModel: 'demo', server: { host: '127.0.0.1', port: 7717 } }],
  ] as const)
    assert.deepEqual(await world.told(asked), problems);
  assert.match(
    (await world.told({ defaultModel: 'nope' }))[0] ?? '',
    /^defaultModel: Unknown model "nope"\. Known: demo;/,
  );
});

test('a port that another program uses is told, but not that of this daemon', async () => {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  try {
    using other = setUp();
    const inUse = `server.port: Port ${port} on 127.0.0.1 is in use. Choose another with --port N.`;
    assert.deepEqual(await other.told({ server: { port } }), [inUse]);
    using own = setUp({ port });
    assert.deepEqual(await own.told({ server: { port } }), []);
  } finally {
    server.close();
  }
});

test('a host that needs authentication is told to a daemon without', async () => {
  using world = setUp({ authEnabled: false });
  const [problem = ''] = await world.told({ server: { host: '0.0.0.0' } });
  assert.match(
    problem,
    /^server\.host: Without authentication, Headgate listens only on a loopback address, not on 0\.0\.0\.0\./,
  );
});

test('a wrong value that stays does not stop a change of something else', async () => {
  using world = setUp();
  const wrong = Config.parse({ workdir: '/etc' });
  assert.deepEqual(await world.told({ workdir: '/etc', retentionDays: 9 }, wrong), []);
});
