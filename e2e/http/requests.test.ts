import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import { bodyOf } from '../../src/testing/answer-body.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
const open = await startDaemon({ args: ['--no-auth'] });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request exactly as given, without an added credential or content type. The body is that of `bodyOf`. */
async function send({ port }: DaemonUnderTest, route: string, { method = 'GET', headers = {}, body = '' }: Sent = {}) {
  const sent = request({ host: '127.0.0.1', port, method, path: route, headers }).end(body);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sent.on('response', resolve).on('error', reject);
  const response = await promise;
  const answer = { status: response.statusCode ?? 0, headers: response.headers };
  return { ...answer, body: bodyOf({ ...answer, text: await text(response) }) };
}

const ROWS: Endpoint[] = Object.values(ENDPOINTS).flatMap((group) => Object.values(group));
const PROTECTED = ROWS.filter(({ scope }) => scope !== 'public');
const FILES = ['/docs', '/static/app.js', '/static/style.css', '/shared/base.css'];
const PLAIN = ['/', '/licenses.txt', '/metrics', '/openapi.json', ...FILES, '/nowhere'];
const JSON_TYPE = { 'Content-Type': 'application/json' };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Logs in with the operator token, and returns the new session. */
async function logIn() {
  const body = JSON.stringify({ token: daemon.token });
  const { headers, ...answer } = await send(daemon, '/v1/api/auth/login', { method: 'POST', headers: JSON_TYPE, body });
  const { jwt } = answer.body;
  return { jwt, setCookie: headers['set-cookie'] ?? [], cookie: { Cookie: `service_auth=${jwt}` } };
}

test('Every response must carry `Access-Control-Allow-Origin: *`', async () => {
  const calls: [string, string][] = ROWS.map(({ verb, path: route }) => [verb.toUpperCase(), route]);
  for (const [method, route] of [...calls, ...PLAIN.map((plain) => ['GET', plain])] as [string, string][])
    for (const headers of [{}, { Host: 'evil.test' }]) {
      const answer = await send(daemon, route, { method, headers });
      assert.equal(answer.headers['access-control-allow-origin'], '*', `${method} ${route} ${answer.status}`);
    }
});

test('`OPTIONS` on any path must answer 200 with an empty body and the CORS headers', async () => {
  for (const route of [...ROWS.map((row) => row.path), ...PLAIN]) {
    const { status, body, headers } = await send(daemon, route, { method: 'OPTIONS' });
    assert.deepEqual(
      [status, body, headers['access-control-allow-methods'], headers['access-control-allow-headers']],
      [200, '', 'GET, POST, OPTIONS', 'Content-Type'],
      route,
    );
  }
});

test('An unknown path must answer 404 with the text `Not found`', async () => {
  for (const route of ['/nowhere', '/v1', '/v1/api/nothing', '/v1/api/send/', '/V1/api/send']) {
    const { status, body, headers } = await send(daemon, route, { headers: bearer(daemon.token) });
    assert.deepEqual([status, body], [404, 'Not found'], route);
    assert.match(headers['content-type'] ?? '', /^text\/plain/);
  }
});

test('An unparseable body must count as an empty object', async () => {
  for (const body of ['', '{', 'null', '[1]', '"text"', '\u00ff\u00fe', '{"message":"hi"'])
    for (const type of ['application/json', 'text/plain']) {
      const headers = { ...bearer(daemon.token), 'Content-Type': type };
      const answer = await send(daemon, '/v1/api/send', { method: 'POST', headers, body });
      const hint = 'the body is not a JSON object, so it was treated as an empty object';
      const told = { error: 'Empty message', ...(body !== '' && { hint }) };
      assert.deepEqual([answer.status, answer.body], [400, told], `${type} ${body}`);
    }
});

test('A body over 1 MiB must answer 413', async () => {
  for (const [length, status] of [
    [1_048_576, 404],
    [1_048_577, 413],
  ] as const) {
    const empty = JSON.stringify({ message: 'x' });
    const body = empty.replace('x', 'x'.repeat(length - empty.length + 1));
    const headers = { ...JSON_TYPE, ...bearer(daemon.token) };
    assert.equal((await send(daemon, '/v1/api/send', { method: 'POST', headers, body })).status, status);
  }
});

test('A call without a credential must answer 401 on every path that needs one', async () => {
  for (const { verb, path: route } of PROTECTED) {
    const { status, body } = await send(daemon, `${route}?token=${daemon.token}`, { method: verb.toUpperCase() });
    const unauthorized = { error: 'Unauthorized: missing or invalid token' };
    assert.deepEqual([status, body], [401, unauthorized], route);
  }
});

test('A credential without the scope must answer 403 and name the scope', async () => {
  const { jwt } = await logIn();
  await daemon.stop();
  // No login of this release has fewer rights, so one is changed in the database.
  const db = new DatabaseSync(path.join(daemon.home, 'headgate.db'));
  db.exec(`update login_sessions set scopes = 'read'`);
  db.close();
  await daemon.restart();
  for (const { verb, path: route, scope } of PROTECTED.filter((row) => row.scope !== 'read')) {
    const { status, body } = await send(daemon, route, { method: verb.toUpperCase(), headers: bearer(jwt) });
    assert.deepEqual([status, body], [403, { error: `Forbidden: token lacks '${scope}' scope` }], route);
  }
  assert.equal((await send(daemon, '/v1/api/workstreams', { headers: bearer(jwt) })).status, 200);
});

test('`/`, `/health`, `/metrics`, `/openapi.json` and the login must work without a credential', async () => {
  for (const route of ['/', '/health', '/metrics', '/openapi.json'])
    assert.equal((await send(daemon, route)).status, 200, route);
  assert.ok((await logIn()).jwt);
});

test('A wrong bearer token must answer 401 even with a valid cookie', async () => {
  const { cookie } = await logIn();
  const status = async (headers: Record<string, string>) =>
    (await send(daemon, '/v1/api/workstreams', { headers })).status;
  assert.deepEqual([await status(cookie), await status({ ...cookie, ...bearer('guess') })], [200, 401]);
});

test('A request with an unknown host name must answer 403', async () => {
  for (const Host of ['evil.test', '127.0.0.1.evil.test', `evil.test:${daemon.port}`])
    for (const route of ['/', '/health', '/v1/api/workstreams', '/nowhere'])
      assert.equal((await send(daemon, route, { headers: { Host, ...bearer(daemon.token) } })).status, 403, route);
  assert.equal((await send(daemon, '/health', { headers: { Host: 'localhost' } })).status, 200);
});

/** The headers that a browser sends with a request from the page of another site. */
const FOREIGN: Record<string, string>[] = [
  { Origin: 'http://evil.test' },
  { Origin: 'null' },
  { 'Sec-Fetch-Site': 'cross-site' },
];

test('A state-changing request from the page of another site must answer 403', async () => {
  const { cookie } = await logIn();
  for (const { path: route } of ROWS.filter(({ verb }) => verb === 'post'))
    for (const foreign of FOREIGN) {
      const headers = { ...foreign, ...cookie, ...JSON_TYPE };
      assert.equal((await send(daemon, route, { method: 'POST', headers, body: '{}' })).status, 403, route);
    }
});

/** Providers of tool servers send browsers here from their own pages. It counts only with the cookie of the attempt. */
const SENT_BACK_TO = '/v1/api/mcp/oauth/callback';

test('With authentication off, every `/v1` path must answer 403 to the page of another site', async () => {
  for (const { verb, path: route } of ROWS.filter((row) => row.path.startsWith('/v1') && row.path !== SENT_BACK_TO))
    for (const headers of FOREIGN)
      assert.equal((await send(open, route, { method: verb.toUpperCase(), headers })).status, 403, route);
  assert.equal((await send(open, '/v1/api/workstreams', { headers: { Origin: open.url } })).status, 200);
});

test('A POST that relies on the cookie, except a logout, must be refused unless its content type is JSON', async () => {
  const { cookie } = await logIn();
  const status = async (headers: Record<string, string>) =>
    (await send(daemon, '/v1/api/send', { method: 'POST', headers: { ...cookie, ...headers }, body: '{}' })).status;
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  for (const type of types) assert.equal(await status({ 'Content-Type': type }), 401, type);
  assert.deepEqual([await status({}), await status(JSON_TYPE)], [401, 400]);
});

const logInWith = (body: object) =>
  send(daemon, '/v1/api/auth/login', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });

test('A PUT or DELETE from the page of another site must answer 403, and one that relies on the cookie must carry JSON or the origin of the page', async () => {
  const { jwt, cookie } = await logIn();
  const route = '/v1/api/admin/settings/logLevel';
  const own = { Origin: `http://127.0.0.1:${daemon.port}` };
  const text = { 'Content-Type': 'text/plain' };
  const statusOf = async (method: string, headers: Record<string, string>) =>
    (await send(daemon, route, { method, headers, body: method === 'PUT' ? '{"value":"error"}' : '' })).status;
  for (const method of ['PUT', 'DELETE']) {
    for (const headers of [{ Origin: 'http://evil.test' }, { 'Sec-Fetch-Site': 'cross-site' }])
      for (const by of [cookie, bearer(jwt)])
        assert.equal(await statusOf(method, { ...headers, ...by, ...JSON_TYPE }), 403, method);
    for (const headers of [{}, text]) assert.equal(await statusOf(method, { ...cookie, ...headers }), 401, method);
  }
  assert.equal(await statusOf('PUT', { ...cookie, ...own, ...text }), 401);
  assert.equal(await statusOf('PUT', { ...cookie, ...JSON_TYPE }), 200);
  assert.equal(await statusOf('DELETE', { ...cookie, ...own }), 200);
});

test('A login code must work only once', async () => {
  const code = daemon.loginLink().split('#login=')[1];
  const [first, second] = [await logInWith({ code }), await logInWith({ code })];
  assert.deepEqual([first.status, second.status, second.body], [200, 401, { error: 'Invalid credentials' }]);
});

test('A login must set a cookie that is `HttpOnly`, `SameSite=Lax` and never the operator token', async () => {
  const { jwt, setCookie } = await logIn();
  assert.deepEqual(setCookie, [`service_auth=${jwt}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400`]);
  assert.ok(!jwt.includes(daemon.token));
});

test('`POST /v1/api/auth/logout` must end the session at once, including open streams', async () => {
  const { jwt, cookie } = await logIn();
  const streams = [
    await daemon.sse('/v1/api/events/global', { token: jwt }),
    await daemon.sse('/v1/api/events/global', { token: '', headers: { ...cookie, Authorization: '' } }),
  ];
  const logout = { method: 'POST', headers: { ...cookie, ...JSON_TYPE }, body: '{}' };
  assert.equal((await send(daemon, '/v1/api/auth/logout', logout)).status, 200);
  for (const stream of streams) await stream.ended;
  for (const headers of [cookie, bearer(jwt)])
    assert.equal((await send(daemon, '/v1/api/workstreams', { headers })).status, 401);
});

test('`GET /v1/api/auth/status` must answer with or without a credential', async () => {
  const { jwt } = await logIn();
  const statusFor = async (headers: Record<string, string>) => {
    const { status, body } = await send(daemon, '/v1/api/auth/status', { headers });
    const { authenticated, user_id } = body;
    return [status, authenticated, user_id];
  };
  assert.deepEqual(
    [await statusFor({}), await statusFor(bearer('guess')), await statusFor(bearer(jwt))],
    [
      [200, false, null],
      [200, false, null],
      [200, true, 'operator'],
    ],
  );
});

// The last test, because it locks out this address.
test('After five failed logins from one address, further ones must answer 429 with `Retry-After`', async () => {
  await daemon.restart(); // earlier failures are reset
  const answers = [];
  for (let n = 1; n <= 6; n += 1) answers.push(await logInWith({ token: `guess ${n}` }));
  answers.push(await logInWith({ token: daemon.token }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 401, 401, 429, 200], // a valid token is never locked out
  );
  const { body, headers } = answers[5] ?? assert.fail('nobody was locked out');
  assert.deepEqual(body, { error: 'Too many login attempts' });
  assert.match(headers['retry-after'] ?? '', /^(300|29\d)$/);
});
