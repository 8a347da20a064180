import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { RoleBoard } from './role-board.ts';

const clerk = { roleId: 'role_1', name: 'clerk', displayName: 'Clerk', permissions: ['read'], builtin: false };

test('without the right to see roles, a form offers the built-in ones and those that are held', async () => {
  const { client, answer } = createFakeClient();
  answer('role.list', () => ({ roles: [clerk] }));
  const board = new RoleBoard(client);
  const builtin = ['builtin-admin', 'builtin-operator', 'builtin-viewer'];
  assert.deepEqual(board.choices(['role_1', 'builtin-viewer']), [...builtin, 'role_1']);
  assert.deepEqual(
    ['builtin-viewer', 'role_1'].map((id) => board.nameOf(id)),
    ['Viewer', 'role_1'],
  );
  await board.read();
  assert.deepEqual(board.choices([]), ['role_1']);
  assert.equal(board.nameOf('role_1'), 'Clerk');
  board.forget();
  assert.deepEqual(board.choices([]), builtin);
});

test('after a change the roles are read again', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('role.list', () => ({ roles: [clerk] }));
  answer('role.delete', () => ({ status: 'ok' }));
  const board = new RoleBoard(client);
  assert.equal(await board.remove('role_1'), undefined);
  assert.equal(await board.add({ name: 'x', permissions: [] }), 'no answer to role.create');
  assert.deepEqual(
    calls.map(([method]) => method),
    ['role.delete', 'role.list', 'role.create', 'role.list'],
  );
});
