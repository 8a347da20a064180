import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openSse } from '../support/clients/sse.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { within } from '../support/deadline.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Daemon = Awaited<ReturnType<typeof startClockedDaemon>>;

interface Made {
  token: string;
  tokenId: string;
}

async function login({ fetch }: Daemon, token: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/v1/api/auth/login', { method: 'POST', headers, body: JSON.stringify({ token }) });
  return (await response.json()).jwt;
}

/** The open connections of one credential: a socket, the global stream, and the stream of a workstream. */
async function hold(daemon: Daemon, auth: string) {
  const socket = await daemon.connect({ auth });
  const { workstreams } = (await socket.call('workstream.list', {})) as { workstreams: { wsId: string }[] };
  const routes = ['/v1/api/events/global', `/v1/api/events?ws_id=${workstreams[0]?.wsId}`];
  const streams = await Promise.all(routes.map((route) => openSse(new URL(route, daemon.url), { token: auth })));
  let ended = 0;
  const all = [socket.closed, ...streams.map((stream) => stream.ended)].map((end) =>
    Promise.resolve(end).then(() => {
      ended += 1;
    }),
  );
  return {
    closed: socket.closed,
    ended: () => ended,
    over: () => within(Promise.all(all), 60_000, () => `the end of all; ${ended} have ended`),
  };
}

const END: Record<string, (daemon: Daemon, held: Made & { jwt: string }) => Promise<unknown>> = {
  async 'a token that is revoked'(daemon, { tokenId }) {
    await (await daemon.connect()).call('token.revoke', { tokenId });
  },
  'a token that expires': ({ clock }) => clock.advance(HOUR_MS),
};

for (const [what, end] of Object.entries(END)) {
  test(`${what} ends its sockets and streams and those of its logins, and no others, while the clock stands still`, async () => {
    await using daemon = await startClockedDaemon();
    const operator = await daemon.connect();
    const made = (await operator.call('token.create', { scope: 'read', name: 'x', expiresInMs: HOUR_MS })) as Made;
    const jwt = await login(daemon, made.token);
    const [byToken, byLogin, others] = [
      await hold(daemon, made.token),
      await hold(daemon, jwt),
      await hold(daemon, daemon.token),
    ];
    await end(daemon, { ...made, jwt });
    await Promise.all([byToken.over(), byLogin.over()]);
    assert.deepEqual(
      [await byToken.closed, await byLogin.closed, others.ended()],
      [{ code: 1008, reason: 'unauthorized' }, { code: 1008, reason: 'unauthorized' }, 0],
    );
  });
}

test('logout and expiry of a login end the sockets and streams of that login, and no others', async () => {
  await using daemon = await startClockedDaemon();
  const [first, second] = [await login(daemon, daemon.token), await login(daemon, daemon.token)];
  const [one, other] = [await hold(daemon, first), await hold(daemon, second)];
  await daemon.fetch('/v1/api/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${first}` } });
  await one.over();
  assert.equal(other.ended(), 0);
  daemon.clock.jump(DAY_MS);
  await daemon.clock.advance(60_000);
  await other.over();
  assert.deepEqual((await other.closed).reason, 'unauthorized');
});

test('no file of the daemon contains a token, login or login code', async () => {
  await using daemon = await startClockedDaemon();
  const operator = await daemon.connect();
  const { token } = (await operator.call('token.create', { scope: 'approve', name: 'x' })) as Made;
  const jwt = await login(daemon, token);
  const code = new URL((await daemon.loginLink()).url).hash.slice('#login='.length);
  await (await daemon.connect({ auth: token })).call('health');
  const files = (await readdir(daemon.home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const found: string[] = [];
  for (const { parentPath, name } of files) {
    const bytes = await readFile(path.join(parentPath, name));
    for (const [what, secret] of Object.entries({ token, 'its digits': token.slice(4), jwt, code })) {
      if (bytes.includes(secret)) found.push(`${what} in ${name}`);
    }
  }
  assert.deepEqual([found, files.some(({ name }) => name.startsWith('headgate.db'))], [[], true]);
});
