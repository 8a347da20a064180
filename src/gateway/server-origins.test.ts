import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONNECT, openGateway } from './testing/gateway-fixture.ts';

const COOKIE = 'theme=dark; service_auth=approve-token; other=1';

/** PORT stands for the gateway's, OTHER for one that is not. */
const FOREIGN: [what: string, origin: string][] = [
  ['another site', 'https://evil.test'],
  ['no site at all', 'null'],
  ['a name that ends like ours', 'http://evil-127.0.0.1:PORT'],
  ['a name that begins like ours', 'http://127.0.0.1.evil.test:PORT'],
  ['our name as a user', 'http://127.0.0.1:PORT@evil.test'],
  ['our name as a path', 'http://evil.test/127.0.0.1:PORT'],
  ['another port', 'http://127.0.0.1:OTHER'],
  ['no port', 'http://127.0.0.1'],
  ['another name for this machine', 'http://localhost:PORT'],
  ['another scheme', 'https://127.0.0.1:PORT'],
  ['a trailing dot', 'http://127.0.0.1.:PORT'],
  ['an extension', 'chrome-extension://abcdef'],
];

const originAt = (pattern: string, port: number) => pattern.replace('PORT', `${port}`).replace('OTHER', `${port + 1}`);

for (const [what, pattern] of FOREIGN) {
  test(`a cookie does not open a socket for a page from ${what}`, async () => {
    await using gateway = await openGateway();
    const client = await gateway.open({ origin: originAt(pattern, gateway.port), cookie: COOKIE });
    const { error } = await client.request('connect', CONNECT);
    assert.deepEqual([error?.code, await client.closed], ['UNAUTHORIZED', { code: 1008, reason: 'unauthorized' }]);
  });

  test(`with authentication off a page from ${what} gets no socket at all`, async () => {
    await using gateway = await openGateway({ isAuthEnabled: false });
    await assert.rejects(gateway.open({ origin: originAt(pattern, gateway.port) }), { message: /403/ });
  });
}

test('a cookie opens a socket for our own page', async () => {
  await using gateway = await openGateway();
  const client = await gateway.open({ origin: `http://127.0.0.1:${gateway.port}`, cookie: COOKIE });
  assert.equal((await client.request('connect', CONNECT)).ok, true);
});

test('a cookie without an Origin opens nothing', async () => {
  await using gateway = await openGateway();
  const client = await gateway.open({ cookie: COOKIE });
  assert.equal((await client.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('a Bearer header opens a socket, and is not saved by a cookie when it is wrong', async () => {
  await using gateway = await openGateway();
  const good = await gateway.open({ authorization: 'Bearer read-token' });
  assert.equal((await good.request('connect', CONNECT)).ok, true);
  const origin = `http://127.0.0.1:${gateway.port}`;
  const wrong = await gateway.open({ authorization: 'Bearer wrong', origin, cookie: COOKIE });
  assert.equal((await wrong.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('nothing in the URL is a credential', async () => {
  await using gateway = await openGateway();
  const url = `ws://127.0.0.1:${gateway.port}/v1/ws?token=approve-token&auth=approve-token`;
  const client = await gateway.open({}, url);
  assert.equal((await client.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('with authentication off our own page and programs need nothing', async () => {
  await using gateway = await openGateway({ isAuthEnabled: false });
  for (const headers of [{}, { origin: `http://127.0.0.1:${gateway.port}` }]) {
    const client = await gateway.open(headers);
    assert.equal((await client.request('connect', CONNECT)).ok, true);
  }
});

for (const host of ['evil.test', '127.0.0.1.evil.test', 'localhost.evil.test:80', '127.0.0.1@evil.test']) {
  test(`the host name "${host}" is not ours`, async () => {
    await using gateway = await openGateway();
    await assert.rejects(gateway.open({ host }), { message: /40[03]/ });
  });
}
