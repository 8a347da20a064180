import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCredentialWorld } from '../../testing/credential-world.ts';
import { OPERATOR_TOKEN } from '../../testing/test-accounts.ts';
import { ALL_PERMISSIONS } from '../../users/grant.ts';
import type { Principal } from '../principal.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type World = Awaited<ReturnType<typeof openCredentialWorld>>;

const principalOf = async (world: World, secret: string): Promise<Principal> =>
  (await world.authenticate(secret)) ?? assert.fail('the credential is not valid');
const operatorOf = (world: World) => principalOf(world, OPERATOR_TOKEN);
const service = (name: string, expiresInMs?: number) => ({
  ...{ name, scope: 'service' as const },
  ...(expiresInMs !== undefined && { expiresInMs }),
});
/** Which of these secrets are valid now. */
const validity = async (world: World, ...secrets: { token: string }[]) =>
  Promise.all(secrets.map(async ({ token }) => (await world.authenticate(token)) !== undefined));

test('Only the operator must be able to create a service token, and for one hour at most', async () => {
  await using world = await openCredentialWorld();
  const operator = await operatorOf(world);
  const made = await world.create(operator, service('worker'));
  const { scopes, permissions, userId } = await principalOf(world, made.token);
  assert.deepEqual(
    [made.scope, (made.expiresAtMs ?? 0) - world.clock.now(), [...scopes], permissions, userId],
    ['service', HOUR_MS, ['read', 'write', 'approve', 'service'], ALL_PERMISSIONS, undefined],
  );
  const short = await world.create(operator, service('short', 5 * MINUTE_MS));
  assert.equal((short.expiresAtMs ?? 0) - world.clock.now(), 5 * MINUTE_MS);
  await assert.rejects(async () => world.create(operator, service('long', HOUR_MS + 1)), {
    code: 'INVALID_REQUEST',
    message: 'expiresInMs: a service token lives at most one hour (3600000). Renew it with token.refresh',
  });
  const { jwt } = await world.login({ code: await world.link(operator) });
  await world.create(await principalOf(world, jwt), service('by a login of the operator'));
  const { token } = await world.create(operator, { name: 'ci', scope: 'approve' });
  await assert.rejects(async () => world.create(await principalOf(world, token), service('by a token')), {
    code: 'FORBIDDEN',
    message: 'Only the operator can create a token with the scope "service"',
  });
});

test('A refreshed service token must get a new secret for another hour, and its earlier secret must work until its own end', async () => {
  await using world = await openCredentialWorld();
  const first = await world.create(await operatorOf(world), service('worker'));
  const open = await principalOf(world, first.token);
  await world.clock.advance(50 * MINUTE_MS);
  const second = await world.refresh(open);
  assert.deepEqual(
    [second.tokenId, second.token === first.token, second.expiresAtMs, world.listed()],
    [first.tokenId, false, world.clock.now() + HOUR_MS, 1],
  );
  assert.deepEqual(await validity(world, first, second), [true, true]);
  await world.clock.advance(10 * MINUTE_MS);
  assert.deepEqual(await validity(world, first, second), [false, true]);
  assert.equal(open.ended.aborted, false, 'open connections go on');
  await world.clock.advance(50 * MINUTE_MS);
  assert.deepEqual([await validity(world, second), open.ended.aborted], [[false], true]);
});

test('a service that lost the answer refreshes again with its earlier secret, and three of those are kept', async () => {
  await using world = await openCredentialWorld();
  const secrets = [await world.create(await operatorOf(world), service('worker'))];
  const caller = await principalOf(world, secrets[0]?.token ?? '');
  for (let n = 0; n < 4; n += 1) secrets.push(await world.refresh(caller));
  assert.deepEqual(await validity(world, ...secrets), [false, true, true, true, true]);
  await world.restart();
  assert.deepEqual(await validity(world, ...secrets), [false, false, false, false, true]);
});

test('a revoked or expired service token ends with all its secrets, and cannot be refreshed', async () => {
  await using world = await openCredentialWorld();
  const first = await world.create(await operatorOf(world), service('worker'));
  const caller = await principalOf(world, first.token);
  const second = await world.refresh(caller);
  const racing = world.refresh(caller);
  await world.revoke(first.tokenId);
  await racing.catch(() => undefined); // whichever came first
  assert.deepEqual([await validity(world, first, second), caller.ended.aborted], [[false, false], true]);
  await assert.rejects(world.refresh(caller), { code: 'UNAUTHORIZED' });
  await world.restart();
  assert.deepEqual(await validity(world, first, second), [false, false]);
  const other = await principalOf(world, (await world.create(await operatorOf(world), service('other'))).token);
  await world.clock.advance(HOUR_MS);
  await assert.rejects(world.refresh(other), { code: 'UNAUTHORIZED' });
});

test('only a service token can be refreshed', async () => {
  await using world = await openCredentialWorld();
  await assert.rejects(world.refresh(await operatorOf(world)), { code: 'FORBIDDEN' });
});

test('A service token must not become a login, nor count in a cookie', async () => {
  await using world = await openCredentialWorld();
  const { token } = await world.create(await operatorOf(world), service('worker'));
  const caller = await principalOf(world, token);
  await assert.rejects(world.login({ token }), {
    code: 'FORBIDDEN',
    message: 'A service token cannot log in. Send it as "Authorization: Bearer …"',
  });
  await assert.rejects(world.link(caller), { code: 'FORBIDDEN' });
  await assert.rejects(async () => world.create(caller, { name: 'child', scope: 'read' }), { code: 'FORBIDDEN' });
  assert.equal(await world.byCookie(token), undefined);
});

test('expired service tokens leave the list when another token is created, and their names are free', async () => {
  await using world = await openCredentialWorld();
  const operator = await operatorOf(world);
  await world.create(operator, service('worker'));
  await world.create(operator, { name: 'ci', scope: 'read', expiresInMs: HOUR_MS });
  await assert.rejects(async () => world.create(operator, service('worker')), { code: 'CONFLICT' });
  await world.clock.advance(HOUR_MS);
  assert.equal(world.listed(), 2);
  await world.create(operator, service('worker'));
  assert.equal(world.listed(), 2, 'the other token, and the new one');
  await world.restart();
  assert.equal(world.listed(), 2);
});

test('what is open under a service token ends, also if another one is created before its end is noticed', async () => {
  await using world = await openCredentialWorld();
  const operator = await operatorOf(world);
  const open = await principalOf(world, (await world.create(operator, service('worker'))).token);
  world.clock.jump(2 * HOUR_MS); // the machine slept
  await world.create(operator, service('other'));
  assert.equal(open.ended.aborted, true);
});
