import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { CONNECT, openClient, type TestClient } from '../../src/gateway/testing/test-client.ts';
import { openSse } from '../support/clients/sse.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';

const HOUR_MS = 3_600_000;
const JSON_TYPE = { 'content-type': 'application/json' };

/** The interface of both kinds of daemon under test. */
interface Reached {
  url: string;
}

interface Made {
  token: string;
  tokenId: string;
  expiresAtMs: number | null;
}

async function connect({ url }: Reached, token: string): Promise<TestClient> {
  const client = await openClient(`${url.replace('http', 'ws')}/v1/ws`, {});
  await client.call('connect', { ...CONNECT, auth: { token } });
  return client;
}

/** One call with a credential, on a separate connection. */
async function callAs<T>(daemon: Reached, secret: string, [method, params]: [string, object?]): Promise<T> {
  const client = await connect(daemon, secret);
  const payload = (await client.call(method, params ?? {})) as T;
  client.socket.close();
  return payload;
}

let names = 0;
const createToken = (daemon: Reached, by: string, asked: object = {}) =>
  callAs<Made>(daemon, by, ['token.create', { name: `n${++names}`, scope: 'approve', ...asked }]);

async function createLink(daemon: Reached, by: string): Promise<string> {
  const { url } = await callAs<{ url: string }>(daemon, by, ['auth.link']);
  return new URL(url).hash.slice('#login='.length);
}

async function login({ url }: Reached, given: { code: string } | { token: string }) {
  const body = JSON.stringify(given);
  const response = await fetch(new URL('/v1/api/auth/login', url), { method: 'POST', headers: JSON_TYPE, body });
  return { status: response.status, jwt: response.ok ? String((await response.json()).jwt) : '' };
}

async function logout({ url }: Reached, jwt: string): Promise<void> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${jwt}` };
  await fetch(new URL('/v1/api/auth/logout', url), { method: 'POST', headers, body: '{}' });
}

async function statusFor({ url }: Reached, secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  return (await fetch(new URL('/v1/api/workstreams', url), { headers })).status;
}

/**
 * All credentials derived from one token, directly or indirectly: a login by its link, tokens created in that login, logins
 * with these, and unused links.
 */
async function mintTree(daemon: Reached, top: string, asked: object = {}) {
  const first = await login(daemon, { code: await createLink(daemon, top) });
  const inLogin = await createToken(daemon, first.jwt, asked);
  const below = await createToken(daemon, inLogin.token, asked);
  const byBelow = await login(daemon, { token: below.token });
  const byLinkOfLogin = await login(daemon, { code: await createLink(daemon, byBelow.jwt) });
  const gone = await login(daemon, { code: await createLink(daemon, top) });
  const ofGone = await createToken(daemon, gone.jwt, asked);
  await logout(daemon, gone.jwt);
  const unused = await Promise.all(
    [top, first.jwt, below.token, byLinkOfLogin.jwt].map((by) => createLink(daemon, by)),
  );
  return {
    tokens: [inLogin, below, ofGone],
    secrets: [first.jwt, inLogin.token, below.token, byBelow.jwt, byLinkOfLogin.jwt, ofGone.token],
    unused,
  };
}

/** A socket and both kinds of event stream with a credential. */
async function hold(daemon: Reached, secret: string) {
  const socket = await connect(daemon, secret);
  const { workstreams } = (await socket.call('workstream.list', {})) as { workstreams: { wsId: string }[] };
  const routes = ['/v1/api/events/global', `/v1/api/events?ws_id=${workstreams[0]?.wsId}`];
  const streams = await Promise.all(routes.map((route) => openSse(new URL(route, daemon.url), { token: secret })));
  return {
    isOpen: () => socket.socket.readyState === socket.socket.OPEN,
    over: () =>
      within(Promise.all([socket.closed, ...streams.map(({ ended }) => ended)]), 60_000, () => 'the end of all'),
    async close() {
      socket.socket.terminate();
      await Promise.all(streams.map((stream) => stream.close()));
    },
  };
}

test('revoking a token also ends every token, login, link, socket and stream derived from it, across restarts and kills', async () => {
  await using daemon = await startDaemon();
  const top = await createToken(daemon, daemon.token);
  const tree = await mintTree(daemon, top.token);
  await daemon.kill9();
  await daemon.restart();
  const all = [top.token, ...tree.secrets];
  assert.deepEqual(
    await Promise.all(all.map((secret) => statusFor(daemon, secret))),
    all.map(() => 200),
    'a restart ends no credential',
  );
  const other = await createToken(daemon, daemon.token);
  const [held, others] = [
    await Promise.all(all.map((secret) => hold(daemon, secret))),
    await hold(daemon, other.token),
  ];

  await callAs(daemon, daemon.token, ['token.revoke', { tokenId: top.tokenId }]);
  for (const one of held) assert.deepEqual((await one.over())[0], { code: 1008, reason: 'unauthorized' });
  assert.equal(others.isOpen(), true);
  await others.close();
  const ended = async () => ({
    secrets: await Promise.all(all.map((secret) => statusFor(daemon, secret))),
    links: await Promise.all(tree.unused.map(async (code) => (await login(daemon, { code })).status)),
    other: await statusFor(daemon, other.token),
    listed: (await callAs<{ tokens: Made[] }>(daemon, daemon.token, ['token.list'])).tokens.map((one) => one.tokenId),
  });
  const expected = {
    ...{ secrets: all.map(() => 401), links: tree.unused.map(() => 401), other: 200, listed: [other.tokenId] },
  };
  assert.deepEqual(await ended(), expected);
  await daemon.kill9();
  await daemon.restart();
  assert.deepEqual(await ended(), expected);
});

test('a token’s expiry ends everything derived from it, and derived tokens never last longer or have more rights', async () => {
  await using daemon = await startClockedDaemon();
  const top = await createToken(daemon, daemon.token, { expiresInMs: HOUR_MS });
  const tree = await mintTree(daemon, top.token, { expiresInMs: 1_000 * HOUR_MS });
  assert.deepEqual(
    tree.tokens.map(({ expiresAtMs }) => expiresAtMs),
    tree.tokens.map(() => top.expiresAtMs),
  );
  await daemon.restart();
  const all = [top.token, ...tree.secrets];
  const held = await Promise.all(all.map((secret) => hold(daemon, secret)));
  const operator = await hold(daemon, daemon.token);
  await daemon.clock.advance(HOUR_MS - 1);
  const code = await createLink(daemon, tree.secrets[0] ?? '');
  assert.ok(held.every((one) => one.isOpen()));
  await daemon.clock.advance(1);
  for (const one of held) assert.deepEqual((await one.over())[0], { code: 1008, reason: 'unauthorized' });
  assert.equal(operator.isOpen(), true);
  assert.deepEqual(
    await Promise.all(all.map((secret) => statusFor(daemon, secret))),
    all.map(() => 401),
  );
  assert.equal((await login(daemon, { code })).status, 401);
  await operator.close();
});

test('a new operator token ends everything the previous one created, and the start reports it', async () => {
  await using daemon = await startDaemon();
  const top = await createToken(daemon, daemon.token);
  const tree = await mintTree(daemon, top.token);
  const formerToken = daemon.token;
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', { auto_approve: true })).body;
  await daemon.stop();
  await rm(path.join(daemon.home, 'token'));
  await daemon.restart();
  const { stdout, stderr } = daemon.output();
  assert.match(
    stdout + stderr,
    /The operator token has changed\. [^\n]+ API tokens \(4\), logins, login links, watches and auto-approve\./,
  );
  const all = [formerToken, top.token, ...tree.secrets];
  assert.deepEqual(
    await Promise.all(all.map((secret) => statusFor(daemon, secret))),
    all.map(() => 401),
  );
  for (const code of tree.unused) assert.equal((await login(daemon, { code })).status, 401);
  await using stream = await daemon.sse(ws_id);
  assert.equal((await stream.until('connected')).data.skip_permissions, false);
});

test('without authentication no token can be created, so none remains when it is on again', async () => {
  await using daemon = await startDaemon({ args: ['--no-auth'] });
  await assert.rejects(createToken(daemon, ''), /Authentication is off/);
  assert.deepEqual(await callAs(daemon, '', ['token.list']), { tokens: [] });
});
