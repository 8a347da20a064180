import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTRACTS, isMethodName } from '../../protocol/index.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { openSse } from '../support/clients/sse.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';

// More methods than the usual limit allows at once.
const inbound = { burst: 100_000, perSecond: 100_000 };
const { daemon } = await openStage({ config: { server: { inbound } } });
const here = { HEADGATE_HOME: daemon.home };

async function make(scope: 'read' | 'write' | 'approve', name: string) {
  return (await daemon.client()).call('token.create', { scope, name });
}

async function connectWith(token: string) {
  const socket = await openClient(daemon.wsUrl, {});
  return { socket, hello: await socket.call('connect', { ...CONNECT, auth: { token } }) };
}

const LADDER = ['public', 'read', 'write', 'approve'];

test('A token must allow exactly what its scope covers, on every interface', async () => {
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  const wsId = workstreams[0]?.wsId ?? '';
  for (const scope of ['read', 'write', 'approve'] as const) {
    const { token } = await make(scope, `of scope ${scope}`);
    const { socket } = await connectWith(token);
    for (const [method, { scope: needed }] of Object.entries(CONTRACTS)) {
      if (!isMethodName(method) || !LADDER.includes(needed)) continue;
      const answer = await socket.request(method, { wrong: 'params' });
      const isForbidden = answer.error?.code === 'FORBIDDEN';
      assert.equal(isForbidden, LADDER.indexOf(needed) > LADDER.indexOf(scope), `${method} with ${scope}`);
    }
    socket.socket.close();
    const list = await fetch(`${daemon.url}/v1/api/workstreams`, { headers: { authorization: `Bearer ${token}` } });
    const sent = await fetch(`${daemon.url}/v1/api/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ws_id: wsId, message: '' }),
    });
    assert.deepEqual([list.status, sent.status === 403], [200, scope === 'read'], scope);
  }
});

test('Revoking a token must end open sockets, streams and logins under it within a second', async () => {
  const { token, tokenId } = await make('approve', 'short-lived');
  const { socket } = await connectWith(token);
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  const stream = await openSse(new URL(`/v1/api/events?ws_id=${workstreams[0]?.wsId}`, daemon.url), { token });
  await stream.until('history');
  const login = await fetch(`${daemon.url}/v1/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const { jwt } = await login.json();
  await (await daemon.client()).call('token.revoke', { tokenId });
  const [{ code }] = await Promise.all([socket.closed, stream.ended]);
  const statuses = await Promise.all(
    [token, jwt].map(async (bearer) => {
      const { status } = await fetch(`${daemon.url}/v1/api/workstreams`, {
        headers: { authorization: `Bearer ${bearer}` },
      });
      return status;
    }),
  );
  assert.deepEqual({ code, statuses }, { code: 1008, statuses: [401, 401] });
});

test('tokens are created, listed and revoked in the terminal, and survive a restart', async () => {
  const made = await runHeadgate(['token', 'create', '--scope', 'read', '--name', 'nightly', '--expires', '30d'], here);
  assert.match(
    made.stderr,
    /^Token "nightly" \(read, expires 20\d\d-\d\d-\d\d \d\d:\d\d UTC\)\. It is shown only once:\n$/,
  );
  const token = made.stdout.trim();
  await daemon.restart();
  const used = await runHeadgate(['call', 'health', '--url', daemon.url, '--token', token]);
  assert.deepEqual([made.code, used.code], [0, 0]);
  const listed = await runHeadgate(['token', 'list'], here);
  assert.match(listed.stdout, /^NAME +SCOPE +CREATED +LAST USED +EXPIRES +ID\n(.*\n)*nightly +read +20/);
  assert.equal(listed.stdout.includes(token.slice(4, 20)), false);
  const revoked = await runHeadgate(['token', 'revoke', 'nightly'], here);
  assert.deepEqual([revoked.code, revoked.stdout], [0, '']);
  const refused = await runHeadgate(['call', 'health', '--url', daemon.url, '--token', token]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^UNAUTHORIZED: \S+ refused the token from --token: [^\n]+\n$/);
});

test('a service token that is created in the terminal lasts an hour', async () => {
  const made = await runHeadgate(['token', 'create', '--scope', 'service', '--name', 'worker'], here);
  assert.match(made.stderr, /^Token "worker" \(service, expires 20\d\d-.* UTC\)\. It is shown only once:\n$/);
  const { tokens } = await (await daemon.client()).call('token.list', {});
  const lives = tokens.filter(({ name }) => name === 'worker').map((one) => (one.expiresAtMs ?? 0) - one.createdAtMs);
  assert.deepEqual(lives, [3_600_000]);
  const renewed = await runHeadgate(['call', 'token.refresh', '--url', daemon.url, '--token', made.stdout.trim()]);
  assert.deepEqual([renewed.code, JSON.parse(renewed.stdout).name], [0, 'worker']);
});

test('an invalid token name, scope or expiry is refused in one line', async () => {
  const wrong = {
    '--scope admin': /^headgate: --scope must be one of read, write, approve, service, not "admin"\n$/,
    '--scope service --expires 2h': /^INVALID_REQUEST: expiresInMs: a service token lives at most one hour [^\n]*\n$/,
    '--scope read --expires soon': /^headgate: --expires must be a time such as 12h, 30d or 8w, not "soon"\n$/,
    '--scope read --name ../x': /^INVALID_REQUEST: [^\n]*name[^\n]*\n$/,
  };
  for (const [args, expected] of Object.entries(wrong)) {
    const { code, stdout, stderr } = await runHeadgate(['token', 'create', ...args.split(' ')], here);
    assert.deepEqual([code === 0, stdout], [false, ''], args);
    assert.match(stderr, expected);
  }
  const unknown = await runHeadgate(['token', 'revoke', 'nobody'], here);
  assert.equal(unknown.stderr, 'headgate: Unknown token "nobody". List tokens with: headgate token list\n');
});
