import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { readUserNames } from './user-names.ts';

test('each user is asked for once and named; deleted users and actors that are no users keep their ids', async () => {
  const asked: unknown[] = [];
  const call = (async (_method: string, { userIds }: { userIds: string[] }) => {
    asked.push(userIds);
    const known = userIds.filter((id) => id !== 'user_gone');
    return { users: known.map((userId) => ({ userId, username: userId.slice('user_'.length), displayName: '' })) };
  }) as GatewayClient['call'];
  const actors = ['user_ada', 'user:user_ada', 'user_gone', 'operator', 'token:tok_1', '', undefined];
  const nameOf = await readUserNames({ call }, actors);
  assert.deepEqual(asked, [['user_ada', 'user_gone']]);
  assert.deepEqual(
    actors.map((actor = '–') => nameOf(actor)),
    [...['ada', 'ada', 'user_gone', 'operator', 'token:tok_1', '', '–']],
  );
  await readUserNames(
    { call },
    Array.from({ length: 501 }, (_, at) => `user_${at}`),
  );
  assert.deepEqual(
    asked.slice(1).map((ids) => (ids as string[]).length),
    [500, 1],
  );
});

test('nothing is asked without users, and a refused question leaves the ids', async () => {
  const call = (async () => {
    throw new Error('no');
  }) as GatewayClient['call'];
  assert.equal((await readUserNames({ call }, ['operator']))('operator'), 'operator');
  assert.equal((await readUserNames({ call }, ['user_ada']))('user_ada'), 'user_ada');
});
