import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../../testing/whole-gateway.ts';

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
