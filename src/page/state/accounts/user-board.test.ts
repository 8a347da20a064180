import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { createFakeClient } from '../fake-client.ts';
import { UserBoard } from './user-board.ts';

const ada: User = {
  userId: 'u1',
  username: 'ada',
  displayName: 'Ada',
  disabled: false,
  hasPassword: true,
  createdAtMs: 1,
  lastLoginAtMs: null,
  roles: ['builtin-viewer', 'clerk'],
};

function open() {
  const fake = createFakeClient();
  for (const method of ['user.update', 'user.role.assign', 'user.role.unassign', 'user.delete', 'user.create']) {
    fake.answer(method, () => ada);
  }
  fake.answer('user.list', () => ({ users: [ada], total: 120 }));
  const changes = () => fake.calls.filter(([method]) => method !== 'user.list');
  return { ...fake, changes, board: new UserBoard(fake.client) };
}

test('a change calls only what differs, and gives roles before it takes others away', async () => {
  const { board, changes } = open();
  const same = { displayName: 'Ada', password: undefined, roles: ada.roles };
  assert.equal(await board.change(ada, same), undefined);
  assert.deepEqual(changes(), []);
  await board.change(ada, { displayName: 'Ada L.', password: 'correct horse', roles: ['clerk', 'builtin-operator'] });
  assert.deepEqual(changes(), [
    ['user.update', { userId: 'u1', displayName: 'Ada L.', password: 'correct horse' }],
    ['user.role.assign', { userId: 'u1', roleId: 'builtin-operator' }],
    ['user.role.unassign', { userId: 'u1', roleId: 'builtin-viewer' }],
  ]);
});

test('a refused change says why, and the list is read again', async () => {
  const { board, answer } = open();
  answer('user.delete', () => {
    throw new RequestError('FORBIDDEN', 'Cannot assign role with permissions you do not hold');
  });
  const words = 'You are not allowed to do this: Cannot assign role with permissions you do not hold.';
  assert.equal(await board.remove('u1'), words);
  assert.deepEqual(board.listing.value?.users, [ada]);
});

test('the answer to an earlier search is ignored', async () => {
  const { board, answer } = open();
  const early = Promise.withResolvers<object>();
  answer('user.list', ({ query }: { query: string }) =>
    query === 'a' ? early.promise : { users: [{ ...ada, username: query }], total: 1 },
  );
  const first = board.search('a');
  await board.search(' ab ');
  early.resolve({ users: [], total: 0 });
  await first;
  assert.deepEqual(
    board.listing.value?.users.map(({ username }) => username),
    ['ab'],
  );
});

test('more users are read on demand', async () => {
  const { board, answer, calls } = open();
  answer('user.list', ({ limit }: { limit: number }) => ({ users: Array(Math.min(limit, 60)).fill(ada), total: 60 }));
  await board.search('');
  await board.more();
  await board.more();
  await board.refresh();
  const limits = calls.map(([, params]) => params);
  assert.deepEqual(limits, [{ limit: 50 }, { limit: 100 }, { limit: 110 }, { limit: 60 }]);
});
