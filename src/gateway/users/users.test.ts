import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { Roles } from './roles.ts';
import type { NewUser, UserNews } from './user-rows.ts';
import { Users } from './users.ts';

const none = () => [];

async function setUp() {
  const clock = fakeClock(1_700_000_000_000);
  const store = await tempStore({ clock });
  const open = async () => {
    const roles = await Roles.open({ store, clock, ids: randomIds });
    return { roles, users: await Users.open({ store, roles, clock, ids: randomIds }) };
  };
  const { roles, users } = await open();
  const news: [string, UserNews][] = [];
  users.onChanged((userId, what) => news.push([userId, what]));
  const add = (username: string, given: Partial<NewUser> = {}) =>
    users.create(
      { username, displayName: username, passwordHash: null, roleIds: ['builtin-viewer'], by: 'operator', ...given },
      none,
    );
  const scopesOf = (userId: string) => [...(users.boundsOf(userId)?.scopes ?? [])];
  return { clock, store, open, roles, users, news, add, scopesOf, [Symbol.asyncDispose]: () => store.close() };
}

test('users that another daemon has created, renamed or deleted are those of this one after it has read them', async () => {
  await using world = await setUp();
  const ada = await world.add('ada');
  const eve = await world.add('eve');
  const { users: ofWorker } = await world.open();
  await world.add('bob');
  await world.users.update(ada.userId, { displayName: 'Ada L.' }, []);
  await world.users.remove(eve.userId, []);
  ofWorker.become((await world.open()).users);
  assert.deepEqual(
    [ofWorker.count, ofWorker.find(ada.userId)?.displayName, ofWorker.find(eve.userId)],
    [2, 'Ada L.', undefined],
  );
  assert.deepEqual([ofWorker.findLogin('BOB')?.username, ofWorker.findLogin('eve')], ['bob', undefined]);
  assert.ok(ofWorker.boundsOf(ada.userId));
});

test('of many first users that are set up at once, one is created', async () => {
  await using world = await setUp();
  const person = { displayName: 'A', passwordHash: null, roleIds: ['builtin-admin'], by: 'setup' };
  const tries = Array.from({ length: 100 }, (_, n) => world.users.setUp({ ...person, username: `user-${n}` }, none));
  const outcomes = await Promise.allSettled(tries);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'created')),
    ['created', ...Array(99).fill('Setup already completed')],
  );
  assert.equal((await world.open()).users.count, 1);
});

test('names that differ only in case are one name', async () => {
  await using world = await setUp();
  const { userId } = await world.add('Ada');
  await assert.rejects(world.add('aDA'), { code: 'CONFLICT', message: 'Username already taken' });
  assert.deepEqual([world.users.findLogin('ADA')?.userId, world.users.count], [userId, 1]);
});

test('a role that is removed while it is assigned is held by nobody, whichever comes first', async () => {
  await using world = await setUp();
  const { userId } = await world.add('ada');
  for (const isFirst of [true, false]) {
    const { roleId } = await world.roles.create(
      { name: `r-${isFirst}`, displayName: 'R', permissions: ['read'] },
      none,
    );
    const assign = () => world.users.assign(userId, roleId, { by: 'operator', also: [] });
    const remove = () => world.roles.remove(roleId, []);
    const done = await Promise.allSettled(isFirst ? [remove(), assign()] : [assign(), remove()]);
    assert.deepEqual(
      done.map((one) => (one.status === 'rejected' ? one.reason.message : 'done')),
      ['done', isFirst ? 'Role not found' : 'done'],
    );
    await assert.rejects(world.add('bob', { roleIds: [roleId] }), { code: 'NOT_FOUND', message: 'Role not found' });
    for (const users of [world.users, (await world.open()).users])
      assert.deepEqual(users.rolesOf(userId), ['builtin-viewer']);
  }
  assert.equal(world.users.findLogin('bob'), undefined);
});

test('a role that an earlier version assigned while it was removed is not held', async () => {
  await using world = await setUp();
  const { userId } = await world.add('ada');
  const row = { user_id: userId, role_id: 'role_gone', assigned_by: 'operator', created_ms: 1 };
  await world.store.commit({ statements: [statementOf(build.insertInto('role_assignments').values(row))] });
  assert.deepEqual((await world.open()).users.rolesOf(userId), ['builtin-viewer']);
});

test('scopes follow from permissions: any admin permission grants approve', async () => {
  await using world = await setUp();
  const { roleId } = await world.roles.create(
    { name: 'auditor', displayName: 'A', permissions: ['admin.audit'] },
    () => [],
  );
  const { userId } = await world.add('ada', { roleIds: [] });
  assert.deepEqual(world.scopesOf(userId), []);
  await world.users.assign(userId, 'builtin-operator', { by: 'operator', also: [] });
  assert.deepEqual(world.scopesOf(userId), ['read', 'write']);
  await world.users.assign(userId, roleId, { by: 'operator', also: [] });
  assert.deepEqual(world.scopesOf(userId), ['read', 'write', 'approve']);
  await world.users.unassign(userId, roleId, []);
  assert.deepEqual(world.scopesOf(userId), ['read', 'write']);
});

test('everything is the same after a restart', async () => {
  await using world = await setUp();
  const permissions = ['read', 'admin.usage'] as const;
  const role = await world.roles.create({ name: 'counter', displayName: 'C', permissions }, () => []);
  const { userId } = await world.add('ada', { roleIds: [role.roleId], passwordHash: 'h' });
  await world.users.update(userId, { disabled: true, displayName: 'Ada' }, []);
  const { users, roles } = await world.open();
  assert.deepEqual(
    [users.list(), users.rolesOf(userId), roles.list()],
    [world.users.list(), [role.roleId], world.roles.list()],
  );
  assert.equal(users.boundsOf(userId), undefined);
});

test('changes of a role reach its holders, and only they hear of it', async () => {
  await using world = await setUp();
  const role = await world.roles.create({ name: 'r', displayName: 'R', permissions: ['read', 'write'] }, () => []);
  const holder = await world.add('holder', { roleIds: [role.roleId] });
  await world.add('other');
  const end = world.users.endOf(holder.userId);
  await world.roles.update(role.roleId, { permissions: ['read', 'write', 'admin.usage'] }, []);
  assert.deepEqual([world.scopesOf(holder.userId), end.aborted], [['read', 'write', 'approve'], false]);
  await world.roles.update(role.roleId, { displayName: 'Other name' }, []);
  await world.roles.remove(role.roleId, []);
  assert.deepEqual([world.scopesOf(holder.userId), end.aborted], [[], true]);
  const changed = { loginsEnd: false, rightsChanged: true };
  assert.deepEqual(world.news, [
    [holder.userId, changed],
    [holder.userId, changed],
  ]);
});

test('a new password and disabling end all logins; enabling gives the rights back', async () => {
  await using world = await setUp();
  const { userId } = await world.add('ada');
  const versions = [world.users.versionOf(userId)];
  await world.users.update(userId, { passwordHash: 'new' }, []);
  versions.push(world.users.versionOf(userId));
  await world.users.update(userId, { disabled: true }, []);
  versions.push(world.users.versionOf(userId));
  assert.equal(world.users.boundsOf(userId), undefined);
  await world.users.update(userId, { disabled: false }, []);
  assert.deepEqual(world.scopesOf(userId), ['read']);
  assert.deepEqual(versions, [1, 2, 3]);
  assert.deepEqual(
    world.news.map(([, news]) => news),
    [
      { loginsEnd: true, rightsChanged: false },
      { loginsEnd: true, rightsChanged: true },
      { loginsEnd: false, rightsChanged: true },
    ],
  );
});

test('a deleted user is gone with its assignments, and the name is free', async () => {
  await using world = await setUp();
  const { userId } = await world.add('ada');
  const end = world.users.endOf(userId);
  await world.users.remove(userId, []);
  assert.deepEqual([world.users.find(userId), end.aborted, world.users.endOf(userId).aborted], [undefined, true, true]);
  assert.deepEqual(await world.store.db.selectFrom('role_assignments').selectAll().execute(), []);
  await assert.rejects(world.users.remove(userId, []), { code: 'NOT_FOUND', message: 'User not found' });
  assert.notEqual((await world.add('ada')).userId, userId);
});

test('a change that cannot be stored changes nothing', async () => {
  await using world = await setUp();
  const { userId } = await world.add('ada');
  const refused = [{ sql: 'insert into users (user_id) values (null)', parameters: [] }];
  await assert.rejects(world.users.update(userId, { disabled: true }, refused));
  await assert.rejects(world.users.assign(userId, 'builtin-admin', { by: 'x', also: refused }));
  await assert.rejects(world.users.remove(userId, refused));
  assert.deepEqual([world.scopesOf(userId), world.users.count, world.news], [['read'], 1, []]);
});

test('roles have unique names, and built-in ones cannot be changed', async () => {
  await using world = await setUp();
  const asked = { name: 'r', displayName: 'R', permissions: [] };
  await world.roles.create(asked, () => []);
  const taken = { code: 'CONFLICT', message: "Role 'r' already exists" };
  await assert.rejects(
    world.roles.create(asked, () => []),
    taken,
  );
  await assert.rejects(
    world.roles.create({ ...asked, name: 'builtin-admin' }, () => []),
    { code: 'CONFLICT' },
  );
  await assert.rejects(world.roles.update('builtin-admin', { permissions: [] }, []), {
    code: 'INVALID_REQUEST',
    message: 'Cannot modify builtin role',
  });
  await assert.rejects(world.roles.remove('builtin-viewer', []), { message: 'Cannot delete builtin role' });
  await assert.rejects(world.roles.remove('role_x', []), { code: 'NOT_FOUND', message: 'Role not found' });
});
