import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import { type CallAs, wholeGateway } from '../../testing/whole-gateway.ts';

test('everyone who may read finds the names of users, and nothing else of them', async () => {
  await using gateway = await wholeGateway();
  const add = async (username: string, displayName: string) =>
    (await gateway.call('user.create', { username, displayName, password: 'correct horse' })).userId;
  const [ada, bob] = [await add('ada', 'Ada Lovelace'), await add('bob', 'Bob')];
  const reader = { scope: 'read' } as const;
  const found = async (params: { userIds?: string[]; query?: string }) =>
    (await gateway.call('user.names', params, reader)).users;
  const [Ada, Bob] = [
    { userId: ada, username: 'ada', displayName: 'Ada Lovelace' },
    { userId: bob, username: 'bob', displayName: 'Bob' },
  ];
  assert.deepEqual(await found({}), [Ada, Bob]);
  assert.deepEqual(await found({ query: 'LOVE' }), [Ada]);
  assert.deepEqual(await found({ userIds: [bob, 'user_gone'], query: 'ada' }), [Bob]);
  await gateway.call('user.update', { userId: bob, disabled: true });
  assert.deepEqual(
    [await found({}), await found({ userIds: [bob] })],
    [[Ada], [Bob]],
    'nobody chooses who cannot log in',
  );
});

test('who administers users revokes no tokens of those who may do more', async () => {
  await using gateway = await wholeGateway();
  const add = (username: string, role: string) =>
    gateway.call('user.create', { username, displayName: username, password: 'correct horse', roles: [role] });
  const token = async (userId: string) => (await gateway.call('user.token.create', { userId, name: 'prod' })).tokenId;
  const above = await token((await add('ada', 'builtin-admin')).userId);
  const below = await token((await add('bob', 'builtin-viewer')).userId);
  const { tokenId: ofOperator } = await gateway.call('token.create', { name: 'prod', scope: 'read' });
  const permissions = new Set<Permission>(['read', 'admin.users']);
  const limited: CallAs = { id: 'user:lim', userId: 'user_lim', permissions };
  const refused = [above, ofOperator].map((tokenId) => gateway.refusal('token.revoke', { tokenId }, limited));
  assert.deepEqual(
    (await Promise.all(refused)).map(({ code }) => code),
    ['FORBIDDEN', 'FORBIDDEN'],
  );
  await gateway.call('token.revoke', { tokenId: below }, limited);
  await gateway.call('token.revoke', { tokenId: above });
  await gateway.call('token.revoke', { tokenId: ofOperator });
});

test('no token is made for a disabled user, and the refusal says so', async () => {
  await using gateway = await wholeGateway();
  const { userId } = await gateway.call('user.create', {
    username: 'bob',
    displayName: 'Bob',
    password: 'long enough',
  });
  await gateway.call('user.update', { userId, disabled: true });
  const { code, message } = await gateway.refusal('user.token.create', { userId, name: 'ci' });
  assert.deepEqual([code, message], ['CONFLICT', 'The user is disabled; enable the user first']);
});

test('the tokens of a deleted user are revoked with it, also those below them', async () => {
  await using gateway = await wholeGateway();
  const person = { username: 'bob', displayName: 'Bob', password: 'long enough', roles: ['builtin-admin'] };
  const { userId } = await gateway.call('user.create', person);
  const { tokenId } = await gateway.call('user.token.create', { userId, name: 'ci' });
  const source = { kind: 'token', tokenId } as const;
  await gateway.call('user.token.create', { userId, name: 'child' }, { id: `token:${tokenId}`, userId, source });
  await gateway.call('token.create', { name: 'prod', scope: 'read' });
  await gateway.call('user.delete', { userId });
  const left = (await gateway.call('token.list', {})).tokens.map(({ name }) => name);
  const rows = await gateway.store.db.selectFrom('api_tokens').select('name').where('revoked_ms', 'is', null).execute();
  assert.deepEqual([left, rows], [['prod'], [{ name: 'prod' }]]);
});
