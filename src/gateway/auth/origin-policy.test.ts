import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginPolicy, isLoopbackHost } from './origin-policy.ts';

const policy = (options: Partial<Parameters<typeof createOriginPolicy>[0]> = {}) =>
  createOriginPolicy({
    ...{ authEnabled: true, allowedHosts: [], allowedOrigins: [], publicUrl: undefined, host: '127.0.0.1', port: 7717 },
    ...options,
  });

const admitted = (check: (host: string) => boolean, hosts: string[]) => hosts.filter(check);

test('loopback names are accepted with any port, similar names are not', () => {
  const ours = ['localhost', 'localhost:7717', 'LocalHost:1', '127.0.0.1', '127.255.0.3:9', '[::1]', '[::1]:7717'];
  const strange = [
    ...['', ' ', 'localhost.', 'localhost.evil.test', 'evil-localhost', '127.0.0.1.evil.test', '127.0.0.1.nip.io'],
    ...['127.1', '1270.0.0.1', 'user@localhost', 'localhost/x', 'localhost#x', 'localhost:7717:1', 'localhost:port'],
    ...['[::2]', '::1', 'localhost\0', '0.0.0.0', '192.168.1.5:7717'],
  ];
  const { checkHost } = policy();
  assert.deepEqual(admitted(checkHost, [...ours, ...strange]), ours);
  assert.equal(checkHost(undefined), false);
  assert.deepEqual(admitted(isLoopbackHost, [...ours, ...strange]), ours);
});

test('configured hosts, the public address and the bound address are accepted', () => {
  const { checkHost } = policy({
    allowedHosts: ['Box.lan', 'other.lan:8080'],
    publicUrl: 'https://chat.example.com/base',
    host: '192.168.1.5',
  });
  const ours = ['box.lan', 'BOX.lan:99', 'other.lan:8080', 'chat.example.com', '192.168.1.5:7717'];
  const strange = ['other.lan', 'other.lan:81', 'x.box.lan', '192.168.1.5:7718', '192.168.1.6:7717'];
  assert.deepEqual(admitted(checkHost, [...ours, ...strange]), ours);
});

test('when bound to all addresses, any IP address is accepted, and other names are not', () => {
  for (const host of ['0.0.0.0', '::']) {
    const { checkHost } = policy({ host });
    assert.deepEqual(admitted(checkHost, ['192.168.1.5:7717', '[fe80::1]:7717', 'evil.test:7717']), [
      '192.168.1.5:7717',
      '[fe80::1]:7717',
    ]);
  }
});

test('an origin is our own if its scheme, host and port match the Host header', () => {
  const { isOwn } = policy();
  const cases: [string, string | undefined, boolean][] = [
    ['http://localhost:7717', 'localhost:7717', true],
    ['http://localhost:7717', 'LOCALHOST:7717', true],
    ['http://localhost', 'localhost', true],
    ['http://localhost', 'localhost:80', true],
    ['http://[::1]:7717', '[::1]:7717', true],
    ['https://localhost:7717', 'localhost:7717', false],
    ['http://localhost:7718', 'localhost:7717', false],
    ['http://localhost', 'localhost:7717', false],
    ['http://127.0.0.1:7717', 'localhost:7717', false],
    ['http://localhost:7717.evil.test', 'localhost:7717', false],
    ['http://evil.test:7717', 'localhost:7717', false],
    ['http://localhost:7717/', 'localhost:7717', false],
    ['null', 'null', false],
    ['null', undefined, false],
    ['', '', false],
    ['http://localhost:7717', undefined, false],
  ];
  for (const [origin, host, expected] of cases) assert.equal(isOwn(origin, host), expected, `${origin} at ${host}`);
});

test('behind a proxy, the public address is our own origin', () => {
  const { isOwn, isForeign } = policy({ publicUrl: 'https://chat.example.com/base' });
  assert.equal(isOwn('https://chat.example.com', '127.0.0.1:7717'), true);
  assert.equal(isOwn('http://chat.example.com', '127.0.0.1:7717'), false);
  assert.equal(isForeign({ origin: 'https://chat.example.com', 'sec-fetch-site': 'same-origin', host: 'x' }), false);
});

test('a foreign page may only read, and below /v1 only with auth on', () => {
  const cases: [string, string, boolean, boolean][] = [
    ['GET', '/', true, true],
    ['GET', '/health', true, true],
    ['GET', '/v1/api/workstreams', true, false],
    ['HEAD', '/v1/api/workstreams', true, false],
    ['OPTIONS', '/v1/api/send', true, true],
    ['POST', '/v1/api/send', false, false],
    ['POST', '/', false, false],
    ['DELETE', '/v1/x', false, false],
    ['QUERY', '/v1/x', false, false],
    // Providers of tool servers send browsers back there.
    ['GET', '/v1/api/mcp/oauth/callback', true, true],
    ['POST', '/v1/api/mcp/oauth/callback', false, false],
    ['GET', '/v1/api/mcp/oauth/start', true, false],
  ];
  for (const [method, path, withAuth, without] of cases) {
    assert.deepEqual(
      [policy().admitsForeign(method, path), policy({ authEnabled: false }).admitsForeign(method, path)],
      [withAuth, without],
      `${method} ${path}`,
    );
  }
});

test('sockets are allowed for programs, our own page, and allowed origins with authentication', () => {
  const host = '127.0.0.1:7717';
  const asked = [
    {},
    { origin: `http://${host}` },
    { origin: 'https://app.example.com' },
    { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' },
    ...[{ origin: 'https://evil.test' }, { origin: 'null' }, { origin: 'https://app.example.com:8443' }],
    ...[{ origin: 'http://app.example.com' }, { 'sec-fetch-site': 'same-site' }],
  ];
  const admits = (authEnabled: boolean) => {
    const { admitsSocket } = policy({ authEnabled, allowedOrigins: ['https://app.example.com'] });
    return asked.filter((headers) => admitsSocket({ host, ...headers }));
  };
  assert.deepEqual([admits(true), admits(false)], [asked.slice(0, 4), asked.slice(0, 2)]);
});

test('without authentication, only clients on the machine of the daemon that forwards are served', () => {
  const refusalFor = (address: string, authEnabled: boolean) =>
    policy({ authEnabled, clientOf: () => ({ address }) }).refusalOfHost({ method: 'GET', url: '/', headers: {} })
      ?.status;
  for (const address of ['127.0.0.1', '127.8.9.1', '::1']) assert.equal(refusalFor(address, false), undefined, address);
  for (const address of ['192.0.2.7', 'fd00::2', '']) {
    assert.equal(refusalFor(address, false), 403, address);
    assert.equal(refusalFor(address, true), undefined, address);
  }
});
