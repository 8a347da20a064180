import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authContracts } from '../../../../protocol/methods/accounts/auth.ts';
import { PERMISSIONS } from '../../../../protocol/methods/accounts/permissions.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Call } from '../../call.ts';
import { OPERATOR_TOKEN, testAccounts } from '../../testing/test-accounts.ts';
import { authMethods } from './auth.ts';
import { tokenMethods } from './token.ts';

async function setUp({ enabled = true } = {}) {
  const clock = fakeClock(1_700_000_000_000);
  const store = await tempStore({ clock });
  const home = tempDir();
  const accounts = await testAccounts({ store, dir: home.path, enabled, clock, log: recordingLog() });
  const { authenticator } = accounts;
  const methods = authMethods(accounts);
  const call = (principal?: Principal, address = '1.2.3.4'): Call => ({
    ...{ principal, address, signal: new AbortController().signal, interim: () => undefined },
    ...{ kept: undefined, keep: () => [], audited: () => [], momentary: () => undefined, subscriptions: undefined },
    perform: async () => undefined,
  });
  const login = async (params: { code?: string; token?: string }, address?: string) =>
    methods['auth.login'](params, call(undefined, address));
  const link = async () => {
    const { url, expiresAtMs } = await methods['auth.link']({}, call(await authenticator.authenticate(OPERATOR_TOKEN)));
    return { url, expiresAtMs, code: url.split('#login=')[1] ?? '' };
  };
  return {
    clock,
    authenticator,
    programs: tokenMethods(accounts),
    methods,
    call,
    login,
    link,
    async [Symbol.asyncDispose]() {
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

const INVALID = { code: 'UNAUTHORIZED', message: 'Invalid credentials' };

test('the code of a link logs in once', async () => {
  await using world = await setUp();
  const { url, expiresAtMs, code } = await world.link();
  assert.match(url, /^http:\/\/127\.0\.0\.1:7717\/#login=[0-9a-f]{32}$/);
  assert.equal(expiresAtMs, world.clock.now() + 600_000);
  const { jwt, ...rest } = await world.login({ code });
  assert.deepEqual(rest, {
    ...{ status: 'ok', role: 'full', scopes: ['read', 'write', 'approve'], userId: 'operator' },
    permissions: [...PERMISSIONS],
    expiresAtMs: world.clock.now() + 86_400_000,
  });
  assert.equal((await world.authenticator.authenticate(jwt))?.id, 'operator');
  await assert.rejects(world.login({ code }), INVALID);
});

test('the operator token logs in, and the cookie does not contain it', async () => {
  await using world = await setUp();
  const { jwt } = await world.login({ token: OPERATOR_TOKEN });
  assert.notEqual(jwt, OPERATOR_TOKEN);
  assert.equal((await world.authenticator.authenticate(jwt))?.source.kind, 'login');
});

test('a session cannot extend itself', async () => {
  await using world = await setUp();
  const { jwt } = await world.login({ token: OPERATOR_TOKEN });
  await assert.rejects(world.login({ token: jwt }), INVALID);
});

test('a missing and a wrong credential are refused with the same message', async () => {
  await using world = await setUp();
  const { code } = await world.link();
  for (const params of [{}, { code: 'wrong' }, { token: 'wrong' }, { token: code }]) {
    await assert.rejects(world.login(params, `10.0.0.${Math.abs(JSON.stringify(params).length)}`), INVALID);
  }
});

test('guessing codes is slowed down, while the right token and the right code still log in', async () => {
  await using world = await setUp();
  const guesses = [{ code: 'a' }, { code: 'b' }, { code: 'c' }, { code: 'a', token: OPERATOR_TOKEN }, { code: '' }];
  for (const guess of guesses) await assert.rejects(world.login(guess), INVALID);
  const { code } = await world.link();
  const slow = { code: 'RATE_LIMITED', message: 'Too many login attempts', retryAfterMs: 300_000 };
  await assert.rejects(world.login({ code: 'd' }), slow);
  assert.equal((await world.login({ token: OPERATOR_TOKEN })).status, 'ok');
  assert.equal((await world.login({ code })).status, 'ok');
  await assert.rejects(world.login({ code }), slow, 'a used code is treated like a wrong one');
});

test('guessing tokens is slowed down, while a valid token and a link still log in', async () => {
  await using world = await setUp();
  for (const token of ['a', 'b', 'c', '', undefined]) {
    await assert.rejects(world.login(token === undefined ? {} : { token }), INVALID);
  }
  await assert.rejects(world.login({ token: 'f' }), { code: 'RATE_LIMITED' });
  const { code } = await world.link();
  assert.equal((await world.login({ code })).status, 'ok');
  assert.equal((await world.login({ token: OPERATOR_TOKEN })).status, 'ok');
});

test('logging out ends the session everywhere', async () => {
  await using world = await setUp();
  const { jwt } = await world.login({ token: OPERATOR_TOKEN });
  const principal = await world.authenticator.authenticate(jwt);
  assert.deepEqual(await world.methods['auth.logout']({}, world.call(principal)), { status: 'ok' });
  assert.deepEqual([principal?.ended.aborted, await world.authenticator.authenticate(jwt)], [true, undefined]);
});

test('logging out ends the sessions that the same browser had before, and those of no others', async () => {
  await using world = await setUp();
  const token = { token: OPERATOR_TOKEN };
  const { jwt: first } = await world.login(token);
  const { jwt: elsewhere } = await world.login(token);
  const from = async (jwt: string, via: 'cookie' | 'bearer') => {
    const principal = await world.authenticator.authenticate(jwt, via);
    return (await world.methods['auth.login'](token, world.call(principal))).jwt;
  };
  const program = await from(first, 'bearer');
  const second = await from(first, 'cookie');
  await world.methods['auth.logout']({}, world.call(await world.authenticator.authenticate(second, 'cookie')));
  const left = [first, second, program, elsewhere].map((jwt) => world.authenticator.authenticate(jwt));
  assert.deepEqual(
    (await Promise.all(left)).map((principal) => principal?.id),
    [undefined, undefined, 'operator', 'operator'],
  );
});

test('logging out without a session, or with the operator token, ends nothing', async () => {
  await using world = await setUp();
  for (const token of [undefined, OPERATOR_TOKEN]) {
    const principal = await world.authenticator.authenticate(token);
    assert.deepEqual(await world.methods['auth.logout']({}, world.call(principal)), { status: 'ok' });
  }
  assert.equal((await world.authenticator.authenticate(OPERATOR_TOKEN))?.ended.aborted, false);
});

test('status returns the caller, or whether auth is enabled', async () => {
  await using world = await setUp();
  const setup = {
    ...{ hasUsers: false, setupRequired: true, setupCodeNeeded: false },
    ...{ passwordEnabled: true, oidc: null },
  };
  const nobody = { authenticated: false, authEnabled: true, ...setup, userId: null, scopes: [], source: null };
  assert.deepEqual(await world.methods['auth.status']({}, world.call()), nobody);
  const { jwt } = await world.login({ token: OPERATOR_TOKEN });
  const principal = await world.authenticator.authenticate(jwt);
  const status = await world.methods['auth.status']({}, world.call(principal));
  assert.deepEqual(authContracts['auth.status'].result().parse(status), {
    ...{ authenticated: true, authEnabled: true, ...setup, userId: 'operator', source: 'login' },
    scopes: ['read', 'write', 'approve'],
  });
});

test('with auth off there is no login, and the link is the plain address', async () => {
  await using world = await setUp({ enabled: false });
  const local = await world.authenticator.authenticate(undefined);
  assert.deepEqual(await world.methods['auth.status']({}, world.call(local)), {
    ...{ authenticated: false, authEnabled: false, userId: null, scopes: [], source: null },
    ...{ hasUsers: false, setupRequired: false, setupCodeNeeded: false, passwordEnabled: true, oidc: null },
  });
  await assert.rejects(world.login({ token: OPERATOR_TOKEN }), {
    code: 'INVALID_REQUEST',
    message: 'Auth is not enabled',
  });
  assert.equal((await world.link()).url, 'http://127.0.0.1:7717/');
});

test('an API token logs in with its own rights, until it expires or is revoked', async () => {
  await using world = await setUp();
  const operator = await world.authenticator.authenticate(OPERATOR_TOKEN);
  const create = (name: string, expiresInMs?: number) =>
    world.programs['token.create']({ name, scope: 'read', expiresInMs }, world.call(operator));
  const { token, tokenId } = await create('dashboard', 60_000);
  const { jwt, ...rest } = await world.login({ token });
  assert.deepEqual(rest, {
    ...{ status: 'ok', role: 'read', scopes: ['read'], userId: `token:${tokenId}` },
    permissions: ['read', 'workstreams.all'],
    expiresAtMs: world.clock.now() + 60_000,
  });
  await world.programs['token.revoke']({ tokenId }, world.call(operator));
  assert.equal(await world.authenticator.authenticate(jwt), undefined);
  await assert.rejects(async () => world.login({ token }), INVALID);
});
