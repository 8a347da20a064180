import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askApi, told } from '../support/clients/ask-api.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();
const PASSWORD = 'correct horse';
const ask = (method: string, path: string, asked: Parameters<typeof askApi>[2] = {}) =>
  askApi(daemon, [method, path], asked);

const setup = await ask('POST', 'auth/setup', {
  body: { username: 'Ada', display_name: 'Ada Lovelace', password: PASSWORD },
});
const ada: string = setup.body.jwt;

async function newUser(username: string, roles?: string[]): Promise<{ id: string; jwt: string }> {
  const person = { username, display_name: username, password: PASSWORD, roles };
  const { body } = await ask('POST', 'admin/users', { body: person, token: ada });
  const login = await ask('POST', 'auth/login', { body: { username, password: PASSWORD } });
  return { id: body.user_id, jwt: login.body.jwt };
}

test('The setup must create the first user as an administrator, log in, and then answer 409', async () => {
  const { status, headers, body } = setup;
  assert.deepEqual(
    [status, body.status, body.role, body.scopes, body.username],
    [200, 'ok', 'full', 'read,write,approve', 'Ada'],
  );
  assert.match(headers.get('set-cookie') ?? '', /^service_auth=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/);
  const again = { username: 'eve', display_name: 'Eve', password: PASSWORD };
  assert.deepEqual(told(await ask('POST', 'auth/setup', { body: again })), [409, 'Setup already completed']);
  const { body: status2 } = await ask('GET', 'auth/status');
  assert.deepEqual([status2.has_users, status2.setup_required, status2.auth_enabled], [true, false, true]);
});

test('A login by name and password must answer with the rights of the user and set the cookie', async () => {
  const { id } = await newUser('grace', ['builtin-operator']);
  const { status, headers, body } = await ask('POST', 'auth/login', {
    body: { username: 'GRACE', password: PASSWORD },
  });
  const { jwt, ...rest } = body;
  assert.deepEqual(
    [status, rest],
    [
      200,
      {
        ...{ status: 'ok', role: 'full', scopes: 'read,write', user_id: id },
        permissions: 'read,write,workstreams.create,workstreams.close',
      },
    ],
  );
  assert.ok(headers.get('set-cookie')?.startsWith(`service_auth=${jwt};`));
  const { body: who } = await ask('GET', 'auth/whoami', { token: jwt });
  assert.deepEqual([who.user_id, who.username, who.scopes], [id, 'grace', 'read,write']);
  assert.deepEqual(told(await ask('GET', 'auth/whoami')), [401, 'Not authenticated']);
});

test('A wrong password and an unknown user must get the same answer', async () => {
  await newUser('known');
  const [known, unknown] = await Promise.all(
    ['known', 'nobody'].map((username) => ask('POST', 'auth/login', { body: { username, password: 'wrong one' } })),
  );
  assert.deepEqual(told(known ?? assert.fail()), [401, 'Invalid credentials']);
  assert.deepEqual(told(unknown ?? assert.fail()), [401, 'Invalid credentials']);
});

test('A refresh must answer a new login with the rights of now', async () => {
  const { id, jwt } = await newUser('lin', ['builtin-operator']);
  await ask('DELETE', `admin/users/${id}/roles/builtin-operator`, { token: ada });
  await ask('POST', `admin/users/${id}/roles`, { body: { role_id: 'builtin-viewer' }, token: ada });
  const { status, body } = await ask('POST', 'auth/refresh', { body: {}, token: jwt });
  assert.deepEqual([status, body.scopes, body.role], [200, 'read', 'read']);
  await ask('DELETE', `admin/users/${id}/roles/builtin-viewer`, { token: ada });
  const without = await ask('POST', 'auth/refresh', { body: {}, token: body.jwt });
  assert.deepEqual(told(without), [403, 'User has no active permissions']);
  assert.equal((await ask('POST', 'auth/refresh', { body: {}, token: daemon.token })).status, 403);
});

test('A new password must end all other logins of the user, on open streams too, also after a restart', async () => {
  const { jwt } = await newUser('kay');
  const stream = await fetch(new URL('/v1/api/events/global', daemon.url), {
    headers: { authorization: `Bearer ${jwt}` },
  });
  const body = { current_password: 'wrong', new_password: 'another horse' };
  assert.equal((await ask('POST', 'auth/password', { body, token: jwt })).status, 403);
  const right = { ...body, current_password: PASSWORD };
  const { status, body: fresh } = await ask('POST', 'auth/password', { body: right, token: jwt });
  assert.equal(status, 200);
  await stream.text(); // ends
  const standing = async (token: string) => (await ask('GET', 'workstreams', { token })).status;
  assert.deepEqual([await standing(jwt), await standing(fresh.jwt)], [401, 200]);
  await daemon.restart();
  assert.deepEqual([await standing(jwt), await standing(fresh.jwt)], [401, 200]);
  assert.equal((await ask('POST', 'auth/login', { body: { username: 'kay', password: PASSWORD } })).status, 401);
});

test('Users must be listed without anything that helps to log in', async () => {
  const { id } = await newUser('mae');
  const { body } = await ask('GET', 'admin/users?query=MAE', { token: ada });
  assert.deepEqual(
    [body.total, new Set(Object.keys(body.users[0]))],
    [1, new Set(['created', 'disabled', 'display_name', 'last_login', 'roles', 'user_id', 'username'])],
  );
  assert.equal(body.users[0].user_id, id);
  assert.equal(/argon2|password/i.test(JSON.stringify(body)), false);
  const again = { username: 'MAE', display_name: 'Mae', password: PASSWORD };
  const taken = await ask('POST', 'admin/users', { body: again, token: ada });
  assert.deepEqual(told(taken), [409, 'Username already taken']);
});

test('A deleted user must be gone at once, and nobody must delete their own account', async () => {
  const { id, jwt } = await newUser('tmp');
  assert.deepEqual((await ask('DELETE', `admin/users/${id}`, { token: ada })).body, { status: 'ok' });
  assert.equal((await ask('GET', 'workstreams', { token: jwt })).status, 401);
  assert.deepEqual(told(await ask('DELETE', `admin/users/${id}`, { token: ada })), [404, 'User not found']);
  const own = await ask('DELETE', `admin/users/${setup.body.user_id}`, { token: ada });
  assert.deepEqual(told(own), [400, 'Cannot delete your own account']);
});

test('An API token of a user must be shown once and act with the rights of the user', async () => {
  const { id } = await newUser('bot', ['builtin-operator']);
  const path = `admin/users/${id}/tokens`;
  const wrong = await ask('POST', path, { body: { name: 'ci', scopes: 'read,fly' }, token: ada });
  assert.deepEqual(told(wrong), [400, 'Invalid scopes (allowed: read, write, approve)']);
  const { body: made } = await ask('POST', path, {
    body: { name: 'ci', scopes: 'read,write', expires_days: 1 },
    token: ada,
  });
  const { body: usual } = await ask('POST', path, { body: { name: 'usual' }, token: ada });
  assert.equal(usual.scopes, 'read,write', 'as far as the user may');
  await ask('DELETE', `admin/tokens/${usual.token_id}`, { token: ada });
  assert.match(made.token, /^svc_[0-9a-f]{64}$/);
  assert.equal(made.token_prefix, made.token.slice(0, 8));
  const { body: list } = await ask('GET', path, { token: ada });
  assert.deepEqual(
    list.tokens.map(({ token_id, name, scopes }: Record<string, string>) => [token_id, name, scopes]),
    [[made.token_id, 'ci', 'read,write']],
  );
  assert.equal(JSON.stringify(list).includes(made.token), false);
  const { body: who } = await ask('GET', 'auth/whoami', { token: made.token });
  assert.deepEqual([who.user_id, who.username], [id, 'bot']);
  assert.deepEqual((await ask('DELETE', `admin/tokens/${made.token_id}`, { token: ada })).body, { status: 'ok' });
  assert.equal((await ask('GET', 'workstreams', { token: made.token })).status, 401);
});

test('Roles must grant only what their author holds, and built-in ones must not change', async () => {
  const { body: list } = await ask('GET', 'admin/roles', { token: ada });
  assert.deepEqual(
    list.roles.slice(0, 3).map(({ role_id, builtin }: { role_id: string; builtin: boolean }) => [role_id, builtin]),
    ['builtin-admin', 'builtin-operator', 'builtin-viewer'].map((roleId) => [roleId, true]),
  );
  const make = (body: object, token = ada) => ask('POST', 'admin/roles', { body, token });
  assert.equal((await make({ name: 'No Spaces', permissions: 'read' })).status, 400);
  assert.deepEqual(told(await make({ name: 'x', permissions: 'read, fly, dig' })), [
    400,
    'Invalid permissions: fly, dig',
  ]);
  const { body: role } = await make({ name: 'clerk', display_name: 'Clerk', permissions: 'read,admin.roles' });
  assert.deepEqual([role.name, role.permissions, role.builtin], ['clerk', 'read,admin.roles', false]);
  assert.deepEqual(told(await make({ name: 'clerk', permissions: [] })), [409, "Role 'clerk' already exists"]);
  const { jwt } = await newUser('cler', [role.role_id]);
  assert.deepEqual(told(await make({ name: 'more', permissions: ['admin.users'] }, jwt)), [
    403,
    'Cannot assign role with permissions you do not hold',
  ]);
  const change = await ask('PUT', 'admin/roles/builtin-admin', { body: { permissions: [] }, token: ada });
  assert.deepEqual(told(change), [400, 'Cannot modify builtin role']);
  assert.deepEqual(told(await ask('DELETE', 'admin/roles/builtin-viewer', { token: ada })), [
    400,
    'Cannot delete builtin role',
  ]);
  assert.deepEqual((await ask('DELETE', `admin/roles/${role.role_id}`, { token: ada })).body, { status: 'ok' });
});

test('Nobody must change their own roles', async () => {
  const path = `admin/users/${setup.body.user_id}/roles`;
  const refused = [403, 'Cannot modify own role assignments'];
  assert.deepEqual(told(await ask('POST', path, { body: { role_id: 'builtin-viewer' }, token: ada })), refused);
  assert.deepEqual(told(await ask('DELETE', `${path}/builtin-admin`, { token: ada })), refused);
});

test('A caller without the permission must get 403 that names it', async () => {
  const { jwt } = await newUser('sue', ['builtin-operator']);
  const { body: role } = await ask('POST', 'admin/roles', {
    body: { name: 'cfg', permissions: 'read,admin.settings' },
    token: ada,
  });
  const { jwt: other } = await newUser('sam', [role.role_id]);
  assert.deepEqual(told(await ask('GET', 'admin/users', { token: jwt })), [
    403,
    "Forbidden: token lacks 'approve' scope",
  ]);
  assert.deepEqual(told(await ask('GET', 'admin/users', { token: other })), [
    403,
    "Forbidden: missing 'admin.users' permission",
  ]);
});

test('The organisation must be one, and its settings must be valid JSON', async () => {
  const { body } = await ask('GET', 'admin/orgs', { token: ada });
  assert.deepEqual([body.orgs.length, body.orgs[0].org_id], [1, 'default']);
  const put = (fields: object) => ask('PUT', 'admin/orgs/default', { body: fields, token: ada });
  assert.deepEqual(told(await put({ settings: '{' })), [400, 'settings must be valid JSON']);
  assert.equal((await put({ display_name: 'The Lab', settings: '{"a":1}' })).body.display_name, 'The Lab');
  assert.deepEqual(told(await ask('GET', 'admin/orgs/other', { token: ada })), [404, 'Organization not found']);
});

test('Every action of an administrator and every login must be recorded with who, from where and how it ended', async () => {
  const { id } = await newUser('rec');
  await ask('POST', 'auth/login', { body: { username: 'rec', password: 'wrong one' } });
  const { body } = await ask('GET', 'admin/audit?limit=3', { token: ada });
  assert.deepEqual(
    body.events.map(({ action, username, outcome, resource_id, ip_address }: Record<string, string>) => [
      ...[action, username, outcome, resource_id, ip_address],
    ]),
    [
      ['auth.login', '', 'denied', '', '127.0.0.1'],
      ['auth.login', 'rec', 'ok', id, '127.0.0.1'],
      ['user.create', 'Ada', 'ok', id, '127.0.0.1'],
    ],
  );
  assert.deepEqual(JSON.parse(body.events[0].detail), { username: 'rec', code: 'UNAUTHORIZED' });
  await ask('POST', 'auth/login', { body: { username: 'typed password', password: 'wrong one' } });
  const { body: unknown } = await ask('GET', 'admin/audit?limit=1', { token: ada });
  assert.deepEqual(JSON.parse(unknown.events[0].detail), { reason: 'unknown user', code: 'UNAUTHORIZED' });
  assert.equal(JSON.stringify(body).includes(PASSWORD), false);
  const { body: filtered } = await ask('GET', `admin/audit?action=user.create&user_id=${setup.body.user_id}&limit=1`, {
    token: ada,
  });
  assert.deepEqual([filtered.events.length, filtered.total > 1], [1, true]);
  assert.equal((await ask('GET', 'admin/audit?since=yesterday', { token: ada })).status, 400);
});
