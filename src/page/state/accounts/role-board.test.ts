import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { RoleBoard } from './role-board.ts';

const clerk = { roleId: 'role_1', name: 'clerk', displayName: 'Clerk', permissions: ['read'], builtin: false };
const viewer = { roleId: 'builtin-viewer', name: 'builtin-viewer', displayName: 'Viewer', builtin: true };
const admin = { roleId: 'builtin-admin', name: 'builtin-admin', displayName: 'Administrator', builtin: true };

test('a form offers the roles that the person may give, and shows those that the user holds', async () => {
  const { client, answer } = createFakeClient();
  const { permissions: _, ...named } = clerk;
  const roles = [
    { ...admin, assignable: false },
    { ...viewer, assignable: true },
    { ...named, assignable: true },
  ];
  answer('user.role.choices', () => ({ roles }));
  const board = new RoleBoard(client);
  assert.deepEqual(board.choices(['role_1']), [{ roleId: 'role_1', assignable: false }], 'before the answer');
  await board.readChoices();
  const shown = (held: string[]) => board.choices(held).map(({ roleId, assignable }) => [roleId, assignable]);
  assert.deepEqual(shown([]), [
    ['builtin-viewer', true],
    ['role_1', true],
  ]);
  assert.deepEqual(shown(['builtin-admin', 'gone']), [
    ['builtin-admin', false],
    ['builtin-viewer', true],
    ['role_1', true],
    ['gone', false],
  ]);
  assert.deepEqual(
    ['builtin-admin', 'role_1', 'gone'].map((id) => board.nameOf(id)),
    ['Administrator', 'Clerk', 'gone'],
  );
  assert.equal(board.hidesSome, true);
});

test('without the right to see them, a form offers no role', async () => {
  const { client } = createFakeClient();
  const board = new RoleBoard(client);
  await board.readChoices();
  assert.deepEqual(board.choices([]), []);
  assert.equal(board.choosing.problem.value, 'no answer to user.role.choices');
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
