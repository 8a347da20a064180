import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../testing/http-edge.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORBIDDEN = { error: 'Forbidden: request from another site' };

/** The headers that browsers send with requests of other sites' pages. */
const foreign = (port: number): Record<string, string>[] => [
  { origin: 'http://evil.test' },
  { origin: 'null' },
  { origin: `https://127.0.0.1:${port}` },
  { origin: `http://127.0.0.1:${port + 1}` },
  { origin: `http://127.0.0.1:${port}.evil.test` },
  { origin: `http://evil.test:${port}` },
  { origin: `http://localhost:${port}` }, // an origin that differs from the Host
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' }, // another port of this machine
  { 'sec-fetch-site': 'same-origin', origin: 'http://evil.test' },
  { 'sec-fetch-site': 'nonsense' },
];

const own = (port: number): Record<string, string>[] => [
  {},
  { origin: `http://127.0.0.1:${port}` },
  { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
  { 'sec-fetch-site': 'none' },
];

for (const authEnabled of [true, false]) {
  test(`with auth ${authEnabled ? 'on' : 'off'}, another site's page changes nothing, not even with a token`, async () => {
    await using edge = await httpEdge({ authEnabled });
    for (const headers of foreign(edge.port)) {
      for (const path of ['/v1/api/send', '/v1/api/approve', '/v1/api/auth/login', '/v1/api/auth/logout', '/nowhere']) {
        const answer = await edge.post(path, { approved: true }, headers);
        assert.deepEqual([headers, path, ...answer], [headers, path, 403, FORBIDDEN]);
      }
    }
    assert.deepEqual(edge.asked, []);
  });
}

test('with auth off, pages of other sites cannot read below /v1', async () => {
  await using edge = await httpEdge({ authEnabled: false, answer: () => ({ workstreams: [] }) });
  for (const headers of foreign(edge.port)) {
    for (const path of ['/v1/api/workstreams', '/v1/api/events/global', '/v1/api/auth/status', '/v1/nowhere']) {
      assert.deepEqual(await edge.sendJson({ path, headers }), [403, FORBIDDEN]);
    }
  }
  assert.deepEqual(edge.asked, []);
});

test('with auth on, reading requires the token, and any site may read with it', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  for (const headers of foreign(edge.port)) {
    const path = '/v1/api/workstreams';
    assert.equal((await edge.send({ path, headers: { ...headers, authorization: 'Bearer read' } })).status, 200);
    assert.equal((await edge.send({ path, headers })).status, 401);
  }
});

test('other sites may link to our page, with auth on or off', async () => {
  for (const authEnabled of [true, false]) {
    await using edge = await httpEdge({ authEnabled });
    assert.equal((await edge.send({ path: '/', headers: { 'sec-fetch-site': 'cross-site' } })).status, 200);
  }
});

test('our own page and programs are served', async () => {
  for (const authEnabled of [true, false]) {
    await using edge = await httpEdge({ authEnabled, answer: () => ({ status: 'ok' }) });
    for (const headers of own(edge.port)) {
      assert.equal((await edge.post('/v1/api/send', {}, headers))[0], 200);
    }
  }
});

test('an unknown Host is refused everywhere', async () => {
  await using edge = await httpEdge();
  for (const host of [
    'evil.test',
    `evil.test:${edge.port}`,
    '127.0.0.1.evil.test',
    'localhost.evil.test',
    'user@localhost',
  ]) {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/health'],
      ['GET', '/metrics'],
      ['GET', '/nowhere'],
      ['OPTIONS', '/'],
      ['POST', '/v1/api/auth/login'],
    ] as const) {
      const answer = await edge.sendJson({ method, path, headers: { host } });
      assert.deepEqual(
        [host, path, ...answer],
        [host, path, 403, { error: 'Forbidden: this host name is not allowed' }],
      );
    }
  }
});

test('loopback names are accepted with any port', async () => {
  await using edge = await httpEdge();
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:99', '127.8.9.10', '[::1]:5']) {
    assert.equal((await edge.send({ path: '/', headers: { host } })).status, 200);
  }
});

test('a cookie authenticates our page', async (t) => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok', workstreams: [] }) });
  const cookie = 'theme=dark; service_auth=write; other=1';
  const statusOf = async (method: string, headers: Record<string, string>) => {
    const path = method === 'GET' ? '/v1/api/workstreams' : '/v1/api/send';
    return (await edge.send({ method, path, headers, body: method === 'GET' ? '' : '{}' })).status;
  };
  await t.test('for reading, and for JSON', async () => {
    assert.equal(await statusOf('GET', { cookie }), 200);
    assert.equal(await statusOf('POST', { cookie, ...JSON_TYPE }), 200);
  });
  await t.test('not for a body that needs no preflight', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/plain; application/json',
    ]) {
      assert.equal(await statusOf('POST', { cookie, 'content-type': type }), 401);
    }
    assert.equal(await statusOf('POST', { cookie }), 401);
  });
  await t.test('not for requests caused by another site', async () => {
    for (const headers of foreign(edge.port)) assert.equal(await statusOf('GET', { cookie, ...headers }), 401);
  });
  await t.test('a Bearer token has priority, even a wrong one', async () => {
    assert.equal(await statusOf('POST', { cookie, ...JSON_TYPE, authorization: 'Bearer read' }), 403);
    assert.equal(await statusOf('POST', { cookie, ...JSON_TYPE, authorization: 'Bearer wrong' }), 401);
    assert.equal(await statusOf('POST', { cookie, ...JSON_TYPE, authorization: 'Bearer' }), 401);
    assert.equal(await statusOf('POST', { cookie, ...JSON_TYPE, authorization: 'Basic YTpi' }), 200);
  });
});

test('a logout with the cookie ends the session whatever its body, and not for another site', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const cookie = 'service_auth=write';
  const logout = async (headers: Record<string, string>, body = '') =>
    (await edge.send({ method: 'POST', path: '/v1/api/auth/logout', headers: { cookie, ...headers }, body })).status;
  const text = { 'content-type': 'text/plain' };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const statuses = [
    await logout({}),
    await logout(text, 'bye'),
    await logout(form, 'a=b'),
    await logout(JSON_TYPE, '{}'),
  ];
  assert.deepEqual(statuses, [200, 200, 200, 200]);
  assert.deepEqual(
    edge.asked.map(({ method, caller }) => [method, caller.principal?.source.kind]),
    Array(4).fill(['auth.logout', 'login']),
  );
  for (const headers of foreign(edge.port)) assert.equal(await logout({ ...text, ...headers }), 403);
  assert.equal(edge.asked.length, 4);
});

test('PUT and DELETE from another site are refused, with the cookie and with a token', async () => {
  for (const authEnabled of [true, false]) {
    await using edge = await httpEdge({ authEnabled });
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      for (const headers of foreign(edge.port)) {
        const asked = { ...headers, ...JSON_TYPE, cookie: 'service_auth=approve', authorization: 'Bearer approve' };
        const answer = await edge.sendJson({ method, path: '/v1/api/memories/x', headers: asked });
        assert.deepEqual([method, headers, ...answer], [method, headers, 403, FORBIDDEN]);
      }
    }
    assert.deepEqual(edge.asked, []);
  }
});

test('a cookie needs JSON, or for a removal and a form our own page as their origin, for PUT and DELETE, too', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok', name: 'x', key: 'x', default: null }) });
  const cookie = 'service_auth=approve';
  const origin = `http://127.0.0.1:${edge.port}`;
  const bodies: Record<string, string> = { PUT: '{"value":1}' };
  const statusOf = async (method: string, headers: Record<string, string>) => {
    const asked = { method, headers: { cookie, ...headers }, body: bodies[method] ?? '' };
    return (await edge.send({ ...asked, path: '/v1/api/admin/settings/x' })).status;
  };
  const form = { 'content-type': 'multipart/form-data; boundary=x' };
  const text = { 'content-type': 'text/plain' };
  const refused = [{}, text, form, { 'content-type': 'text/plain; application/json' }];
  for (const headers of refused)
    assert.deepEqual([await statusOf('PUT', headers), await statusOf('DELETE', headers)], [401, 401]);
  assert.deepEqual(edge.asked, []);
  assert.equal(await statusOf('PUT', { ...text, origin }), 401);
  assert.equal(await statusOf('PUT', JSON_TYPE), 200);
  assert.equal(await statusOf('DELETE', { origin }), 200);
  assert.equal(await statusOf('DELETE', JSON_TYPE), 200);
});

test('login sets the cookie, Secure except over plain HTTP on this machine; logout expires it', async () => {
  const login = {
    status: 'ok',
    role: 'full',
    scopes: ['read', 'write'],
    permissions: ['read'],
    jwt: 'a.b.c',
    userId: 'operator',
    expiresAtMs: 1,
  };
  await using edge = await httpEdge({ answer: ({ method }) => (method === 'auth.login' ? login : { status: 'ok' }) });
  const cookieOf = async (path: string) => {
    const { headers, text } = await edge.send({ method: 'POST', path, headers: JSON_TYPE, body: '{"code":"c0de"}' });
    return [headers['set-cookie'], JSON.parse(text)];
  };
  assert.deepEqual(await cookieOf('/v1/api/auth/login'), [
    ['service_auth=a.b.c; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'],
    { status: 'ok', role: 'full', scopes: 'read,write', jwt: 'a.b.c', user_id: 'operator', permissions: 'read' },
  ]);
  assert.deepEqual(await cookieOf('/v1/api/auth/logout'), [
    ['service_auth=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'],
    { status: 'ok' },
  ]);
  assert.deepEqual(edge.asked[0]?.params, { username: undefined, password: undefined, code: 'c0de', token: undefined });

  await using named = await httpEdge({
    answer: () => login,
    originPolicy: {
      checkHost: () => true,
      refusalOfHost: () => undefined,
      isOwn: () => true,
      isForeign: () => false,
      admitsSocket: () => true,
      admitsForeign: () => true,
    },
  });
  const { headers } = await named.send({
    method: 'POST',
    path: '/v1/api/auth/login',
    headers: { ...JSON_TYPE, host: 'chat.example.com' },
  });
  assert.deepEqual(headers['set-cookie'], [
    'service_auth=a.b.c; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure',
  ]);
});
