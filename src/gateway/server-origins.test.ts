import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { listeningGateway } from './testing/listening-gateway.ts';
import { CONNECT } from './testing/test-client.ts';

const COOKIE = 'theme=dark; service_auth=approve-token; other=1';

/** PORT stands for the gateway's port, OTHER for another one. */
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
  test(`a page from ${what} gets no socket, whatever credentials it sends`, async () => {
    await using gateway = await listeningGateway();
    const origin = originAt(pattern, gateway.port);
    for (const headers of [{}, { cookie: COOKIE }, { authorization: 'Bearer approve-token' }])
      await assert.rejects(gateway.open({ ...headers, origin }), { message: /403/ });
  });

  test(`with authentication off a page from ${what} gets no socket at all`, async () => {
    await using gateway = await listeningGateway({ isAuthEnabled: false });
    await assert.rejects(gateway.open({ origin: originAt(pattern, gateway.port) }), { message: /403/ });
  });
}

test('a cookie opens a socket for our own page', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open({ origin: `http://127.0.0.1:${gateway.port}`, cookie: COOKIE });
  assert.equal((await client.request('connect', CONNECT)).ok, true);
});

test('a cookie without an Origin opens no socket', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open({ cookie: COOKIE });
  assert.equal((await client.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('a Bearer header opens a socket; a wrong one does not, even with a valid cookie', async () => {
  await using gateway = await listeningGateway();
  const good = await gateway.open({ authorization: 'Bearer read-token' });
  assert.equal((await good.request('connect', CONNECT)).ok, true);
  const origin = `http://127.0.0.1:${gateway.port}`;
  const wrong = await gateway.open({ authorization: 'Bearer wrong', origin, cookie: COOKIE });
  assert.equal((await wrong.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('nothing in the URL is a credential', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open({}, '/v1/ws?token=approve-token&auth=approve-token');
  assert.equal((await client.request('connect', CONNECT)).error?.code, 'UNAUTHORIZED');
});

test('with authentication off our own page and programs need no credential', async () => {
  await using gateway = await listeningGateway({ isAuthEnabled: false });
  for (const headers of [{}, { origin: `http://127.0.0.1:${gateway.port}` }]) {
    const client = await gateway.open(headers);
    assert.equal((await client.request('connect', CONNECT)).ok, true);
  }
});

for (const host of ['evil.test', '127.0.0.1.evil.test', 'localhost.evil.test:80', '127.0.0.1@evil.test']) {
  test(`the host name "${host}" is refused`, async () => {
    await using gateway = await listeningGateway();
    await assert.rejects(gateway.open({ host }), { message: /40[03]/ });
  });
}

test('refused sockets of other sites use no places', async () => {
  await using gateway = await listeningGateway();
  for (let n = 0; n < 40; n += 1) await gateway.open({ origin: 'https://evil.test' }).catch(() => undefined);
  assert.equal(
    (await (await gateway.open()).request('connect', { ...CONNECT, auth: { token: 'read-token' } })).ok,
    true,
  );
});

test('when unauthenticated clients use all places, a valid credential still opens a socket', async () => {
  await using gateway = await listeningGateway();
  for (let n = 0; n < LIMITS.unauthenticatedSocketsPerAddress; n += 1) await gateway.open();
  await assert.rejects(gateway.open(), { message: /503/ });
  await assert.rejects(gateway.open({ authorization: 'Bearer guess' }), { message: /503/ });
  const own = { origin: `http://127.0.0.1:${gateway.port}`, cookie: COOKIE };
  for (const headers of [own, { authorization: 'Bearer read-token' }])
    assert.equal((await (await gateway.open(headers)).request('connect', CONNECT)).ok, true);
});
