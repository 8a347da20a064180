import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { HelloOk } from '../../protocol/connect.ts';
import type { Contract } from '../../protocol/contract.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../../protocol/events/gateway.ts';
import { CONTRACTS } from '../../protocol/index.ts';
import { BUILTIN_ROLES, PERMISSIONS, type Permission } from '../../protocol/methods/accounts/permissions.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import {
  CLOSED_TO_SERVICES,
  MAY_CALL,
  METHODS_BY_PERMISSION,
  METHODS_BY_SCOPE,
  neededOf,
  WITHOUT_PERMISSION,
} from '../support/clients/expected-rights.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

const inbound = { burst: 1_000_000, perSecond: 1_000 };
const daemon = await startClockedDaemon({ server: { inbound }, ratelimit: { enabled: false } });
after(() => daemon[Symbol.asyncDispose]());
const operator = await daemon.connect();

const METHODS = Object.keys(CONTRACTS).filter((method) => method !== 'connect');
const PASSWORD = 'correct horse';
let people = 0;

interface Person {
  userId: string;
  jwt: string;
}

async function newRole(permissions: readonly Permission[]): Promise<string> {
  people += 1;
  const role = await operator.call('role.create', { name: `role-${people}`, permissions: [...permissions] });
  return (role as { roleId: string }).roleId;
}

async function newPerson(roles: readonly string[]): Promise<Person> {
  people += 1;
  const username = `person-${people}`;
  const person = { username, displayName: username, password: PASSWORD, roles };
  const { userId } = (await operator.call('user.create', person)) as Person;
  const { jwt } = (await operator.call('auth.login', { username, password: PASSWORD })) as Person;
  return { userId, jwt };
}

/** The permissions that events need besides their scope, written a second time. */
const EVENTS_BY_PERMISSION: Partial<Record<Permission, readonly string[]>> = {
  approve: ['approval.requested', 'approval.resolved', 'node.pair.requested', 'node.pair.resolved'],
  'tools.approve': ['approval.requested', 'approval.resolved'],
  'admin.nodes': ['node.pair.requested', 'node.pair.resolved'],
};

/** Params that no method accepts: an authorized caller gets INVALID_REQUEST, others get FORBIDDEN, and nothing happens. */
const WRONG = { wrong: 'params' };

/** What a person may call, each on its own connection. */
async function allowed(jwt: string, methods: readonly string[] = METHODS): Promise<string[]> {
  const found: string[] = [];
  for (const method of methods) {
    const { socket, call, request, closed } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
    await call('connect', { ...CONNECT, auth: { token: jwt } });
    const { error } = await request(method, WRONG);
    if (error?.code !== 'FORBIDDEN') found.push(method);
    socket.close();
    await closed;
  }
  return found;
}

/** What the answer to `connect` lists. */
async function featuresOf(jwt: string): Promise<HelloOk['features']> {
  const { socket, call, closed } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
  const { features } = HelloOk.parse(await call('connect', { ...CONNECT, auth: { token: jwt } }));
  socket.close();
  await closed;
  return features;
}

const permissionsOf = (method: string) => neededOf(METHODS_BY_PERMISSION, method);

const scopeOf = (method: string) =>
  Object.entries(METHODS_BY_SCOPE).find(([, methods]) => methods?.includes(method))?.[0] ?? '';

/** By the tables that were written a second time. */
function expected(permissions: readonly string[]): string[] {
  const isAdmin = permissions.some((held) => held.startsWith('admin.') || held === 'approve');
  const rung = isAdmin ? 'approve' : permissions.includes('write') ? 'write' : 'read';
  const scopes: readonly string[] = MAY_CALL[rung];
  return METHODS.filter((method) => {
    const needed = permissionsOf(method);
    const isPermitted = needed.length === 0 || needed.some((permission) => permissions.includes(permission));
    return scopes.includes(scopeOf(method)) && isPermitted;
  });
}

test('the permissions of the rows are the expected ones', () => {
  for (const [method, row] of Object.entries<Contract>(CONTRACTS))
    assert.deepEqual([row.permission ?? []].flat(), permissionsOf(method), method);
  for (const [event, row] of Object.entries<GatewayEventRow>(GATEWAY_EVENTS))
    assert.deepEqual([row.permission ?? []].flat(), neededOf(EVENTS_BY_PERMISSION, event), event);
});

test('the scope approve alone, which every right to administer grants, opens only credentials of the caller', () => {
  const rows = Object.entries<Contract>(CONTRACTS).filter(([, row]) => row.scope === 'approve' && !row.permission);
  assert.deepEqual(new Set(rows.map(([method]) => method)), new Set(WITHOUT_PERMISSION));
  const events = Object.values<GatewayEventRow>(GATEWAY_EVENTS).filter(({ scope }) => scope === 'approve');
  assert.ok(events.every(({ permission }) => permission !== undefined));
});

test('a viewer who may see the audit trail changes no configuration, decides nothing and gives no job or node work', async () => {
  const { jwt } = await newPerson(['builtin-viewer', await newRole(['read', 'admin.audit'])]);
  const { socket, call, request, events } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
  await call('connect', { ...CONNECT, auth: { token: jwt } });
  const { hash } = (await call('config.get', {})) as { hash: string };
  const refusals: [string, object, string][] = [
    ['settings.set', { key: 'heartbeatMinutes', value: 3 }, "missing 'admin.settings' permission"],
    ['config.patch', { raw: '{"heartbeatMinutes":3}', baseHash: hash }, "missing 'admin.settings' permission"],
    ['config.set', { raw: '{"heartbeatMinutes":3}' }, "missing 'admin.settings' permission"],
    ['approval.resolve', { approvalId: 'x', approved: true }, "missing one of 'approve', 'tools.approve'"],
    ['node.invoke', { nodeId: 'x', command: 'x' }, "missing one of 'approve', 'admin.nodes'"],
    ['cron.run', { id: 'x', mode: 'force' }, "missing one of 'approve', 'admin.schedules'"],
    ['sessions.delete', { key: 'x' }, "missing 'approve' permission"],
  ];
  for (const [method, params, words] of refusals) {
    const { error } = await request(method, params);
    assert.deepEqual([error?.code, error?.message], ['FORBIDDEN', `Forbidden: ${words}`], method);
  }
  const { sessionId: wsId } = (await call('sessions.resolve', { key: 'main' })) as { sessionId?: string };
  const auto = await request('workstream.update', { wsId: wsId ?? 'main', autoApprove: true });
  assert.deepEqual(
    [auto.error?.code, auto.error?.message],
    ['FORBIDDEN', "auto-approve needs the approve scope and the permission 'approve' or 'tools.approve'"],
  );
  const asked = operator.event('node.pair.requested');
  await operator.call('node.pair.request', { nodeId: 'asks' });
  await asked;
  assert.equal(((await call('config.get', {})) as { hash: string }).hash, hash);
  const heard = events().flatMap((frame) => (frame.type === 'event' ? [frame.event] : []));
  assert.ok(!heard.includes('node.pair.requested'), 'nor hears what others may decide');
  socket.close();
});

test('each built-in role may call exactly what its permissions allow', async () => {
  for (const [roleId, { permissions }] of Object.entries(BUILTIN_ROLES)) {
    const { jwt } = await newPerson([roleId]);
    assert.deepEqual(await allowed(jwt), expected(permissions), roleId);
    assert.deepEqual((await featuresOf(jwt)).methods, expected(permissions), roleId);
  }
});

test('each permission opens its own methods, and its lack closes them', async () => {
  const roleId = await newRole(['read']);
  const { jwt } = await newPerson([roleId]);
  /** The login goes on with the rights of now. */
  const hold = (permissions: readonly Permission[]) => operator.call('role.update', { roleId, permissions });
  for (const [permission, methods] of Object.entries(METHODS_BY_PERMISSION)) {
    // Administration of the organisation grants the scope approve, and opens none of these.
    await hold(['read', 'write', 'admin.orgs', permission as Permission]);
    assert.deepEqual(await allowed(jwt, methods), methods, `with ${permission}`);
    const features = await featuresOf(jwt);
    assert.deepEqual(features.methods, expected(['read', 'write', 'admin.orgs', permission]), `with ${permission}`);
    const restricted = Object.values(EVENTS_BY_PERMISSION).flat();
    assert.deepEqual(
      features.events.filter((event) => restricted.includes(event)),
      EVENTS_BY_PERMISSION[permission as Permission] ?? [],
      `with ${permission}`,
    );
    const closed = new Set(methods.flatMap(permissionsOf));
    await hold(PERMISSIONS.filter((held) => !closed.has(held) || held === 'read'));
    assert.deepEqual(await allowed(jwt, methods), [], `without ${permission}`);
  }
});

test('A service token must pass every permission check, and be refused by methods that create credentials or give rights', async () => {
  const { token } = (await operator.call('token.create', { name: 'worker', scope: 'service' })) as { token: string };
  const may: readonly string[] = MAY_CALL.service;
  const open = METHODS.filter((method) => may.includes(scopeOf(method)) && !Object.hasOwn(CLOSED_TO_SERVICES, method));
  assert.deepEqual(await allowed(token), open);
  assert.deepEqual((await featuresOf(token)).methods, open);
  const rows = Object.entries(CONTRACTS).flatMap(([method, row]) => ('refusesServices' in row ? [method] : []));
  assert.deepEqual(new Set(rows), new Set(Object.keys(CLOSED_TO_SERVICES)));
});

test('a user without roles, a disabled one and a deleted one cannot log in, and open sockets end', async () => {
  const login = async (username: string) =>
    operator.request('auth.login', { username, password: PASSWORD }).then(({ error }) => error?.code ?? 'ok');
  const open = async (jwt: string) => {
    const client = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
    await client.call('connect', { ...CONNECT, auth: { token: jwt } });
    return client;
  };
  const nameOf = () => `person-${people}`;
  const disabled = await newPerson(['builtin-viewer']);
  const disabledName = nameOf();
  const socket = await open(disabled.jwt);
  await operator.call('user.update', { userId: disabled.userId, disabled: true });
  assert.deepEqual(await socket.closed, { code: 1008, reason: 'unauthorized' });
  assert.equal(await login(disabledName), 'UNAUTHORIZED');
  const deleted = await newPerson(['builtin-viewer']);
  const deletedName = nameOf();
  const other = await open(deleted.jwt);
  await operator.call('user.delete', { userId: deleted.userId });
  assert.deepEqual(await other.closed, { code: 1008, reason: 'unauthorized' });
  assert.equal(await login(deletedName), 'UNAUTHORIZED');
  const bare = await newPerson(['builtin-viewer']);
  const bareName = nameOf();
  const third = await open(bare.jwt);
  await operator.call('user.role.unassign', { userId: bare.userId, roleId: 'builtin-viewer' });
  assert.deepEqual(await third.closed, { code: 1008, reason: 'rights changed' });
  assert.equal(await login(bareName), 'FORBIDDEN');
});

test('nobody hands out what they do not hold, changes their own rights, or acts on those who may do more', async () => {
  const clerkRole = await newRole(['read', 'write', 'admin.users', 'admin.roles']);
  const clerk = await newPerson([clerkRole]);
  const boss = await newPerson(['builtin-admin']);
  const viewer = await newPerson(['builtin-viewer']);
  const { call, request, socket } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
  await call('connect', { ...CONNECT, auth: { token: clerk.jwt } });
  const refusals: [string, object, string][] = [
    ['user.role.assign', { userId: viewer.userId, roleId: 'builtin-admin' }, 'you do not hold'],
    ['user.role.assign', { userId: clerk.userId, roleId: 'builtin-viewer' }, 'own role assignments'],
    ['user.role.unassign', { userId: clerk.userId, roleId: clerkRole }, 'own role assignments'],
    ['user.role.unassign', { userId: boss.userId, roleId: 'builtin-admin' }, 'you do not hold'],
    ['oidc.identity.add', { userId: boss.userId, issuer: 'https://sso.example.com', subject: 's' }, 'you do not hold'],
    ['role.create', { name: 'big', permissions: ['admin.settings'] }, 'you do not hold'],
    ['role.update', { roleId: clerkRole, permissions: ['read'] }, 'a role that you hold'],
    ['role.delete', { roleId: clerkRole }, 'a role that you hold'],
    [
      'user.create',
      { username: 'mate', displayName: 'Mate', password: PASSWORD, roles: ['builtin-admin'] },
      'you do not hold',
    ],
    ['user.update', { userId: boss.userId, password: 'taken over' }, 'you do not hold'],
    ['user.update', { userId: clerk.userId, disabled: true }, 'your own account'],
    ['user.delete', { userId: boss.userId }, 'you do not hold'],
    ['user.token.create', { userId: boss.userId, name: 'mine' }, 'you do not hold'],
  ];
  for (const [method, params, words] of refusals) {
    const { error } = await request(method, params);
    assert.deepEqual([error?.code, error?.message.includes(words)], ['FORBIDDEN', true], `${method} ${error?.message}`);
  }
  const own = await request('user.delete', { userId: clerk.userId });
  assert.equal(own.error?.message, 'Cannot delete your own account');
  const weak = await newRole(['read']);
  await call('user.role.assign', { userId: viewer.userId, roleId: weak });
  socket.close();
});

test('a token of a user has no more rights than the user, also after the user loses some', async () => {
  const writer = await newPerson(['builtin-operator']);
  const over = await operator.request('user.token.create', { userId: writer.userId, name: 'x', scopes: ['approve'] });
  assert.equal(over.error?.code, 'FORBIDDEN');
  const made = { userId: writer.userId, name: 'ci', scopes: ['write'] };
  const { token } = (await operator.call('user.token.create', made)) as { token: string };
  assert.deepEqual(await allowed(token, ['workstream.create', 'approval.list']), ['workstream.create']);
  await operator.call('user.role.assign', { userId: writer.userId, roleId: 'builtin-viewer' });
  await operator.call('user.role.unassign', { userId: writer.userId, roleId: 'builtin-operator' });
  assert.deepEqual(await allowed(token, ['workstream.create', 'workstream.list']), ['workstream.list']);
  await operator.call('user.update', { userId: writer.userId, disabled: true });
  const { socket, request, closed } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
  const { error } = await request('connect', { ...CONNECT, auth: { token } });
  assert.equal(error?.code, 'UNAUTHORIZED');
  socket.close();
  await closed;
});
