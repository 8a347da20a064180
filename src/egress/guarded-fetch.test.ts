import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, isIPv6, type LookupFunction } from 'node:net';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createGuardedFetch } from './guarded-fetch.ts';

async function serve(t: TestContext, listener: RequestListener) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, seen };
}

/** Resolves every name to the given addresses and counts the lookups. */
function resolver(...addresses: string[]) {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, callback) => {
    asked.push(host);
    callback(
      null,
      addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
    );
  };
  return { asked, lookup };
}

function open({ addresses = ['127.0.0.1'], privateHosts = [] as string[] } = {}) {
  const { asked, lookup } = resolver(...addresses);
  return { asked, fetch: createGuardedFetch({ privateHosts: () => privateHosts, environment: {}, lookup }) };
}

/** The message of the EgressError in a rejection, at any depth of causes. */
async function reasonOf(sent: Promise<unknown>): Promise<string> {
  const error = await sent.then(
    () => assert.fail('it was sent'),
    (failure: unknown) => failure,
  );
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.name === 'EgressError') return cause.message;
  throw error;
}

test('a request reaches its server with headers and body, and the answer streams', async (t) => {
  const { port, seen } = await serve(t, (request, response) => request.pipe(response));
  const { fetch } = open();
  const response = await fetch(`http://127.0.0.1:${port}/x`, { method: 'POST', body: 'hello', headers: { a: 'b' } });
  assert.deepEqual([response.status, await response.text(), seen[0]?.a], [200, 'hello', 'b']);
});

test('a user and a password in the address are sent as Basic authentication, and no error repeats them', async (t) => {
  const { port, seen } = await serve(t, (request, response) =>
    request.url === '/cut' ? request.socket.destroy() : response.end(),
  );
  const { fetch } = open();
  const address = `http://ada:p%40ss%25@127.0.0.1:${port}`;
  await fetch(`${address}/x`, { method: 'POST', body: 'hello', headers: { a: 'b' } });
  await fetch(address, { headers: { Authorization: 'Bearer key' } });
  assert.deepEqual(
    seen.map(({ authorization, a }) => [authorization, a]),
    [
      [`Basic ${Buffer.from('ada:p@ss%').toString('base64')}`, 'b'],
      ['Bearer key', undefined],
    ],
  );
  await assert.rejects(fetch(`${address}/cut`), (error) => !/p(@|%40)ss/.test(inspect(error)));
});

for (const status of [301, 302, 303, 307, 308])
  test(`a ${status} is not followed, and the other host receives no request`, async (t) => {
    const other = await serve(t, (_, response) => response.end());
    const first = await serve(t, (_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${other.port}/` }).end(),
    );
    const { fetch } = open();
    const sent = fetch(`http://127.0.0.1:${first.port}/`, { redirect: 'follow', headers: { 'x-api-key': 'k' } });
    assert.match(
      await reasonOf(sent),
      new RegExp(`redirect to http://127\\.0\\.0\\.1:${other.port}\\. Redirects are not`),
    );
    assert.deepEqual([first.seen.length, other.seen.length], [1, 0]);
  });

test('a relative redirect is refused, a 304 is not', async (t) => {
  const { port } = await serve(t, ({ url }, response) =>
    response.writeHead(url === '/moved' ? 302 : 304, { location: '/there' }).end(),
  );
  const { fetch } = open();
  assert.match(await reasonOf(fetch(`http://127.0.0.1:${port}/moved`)), /redirect to http:\/\/127/);
  assert.equal((await fetch(`http://127.0.0.1:${port}/same`)).status, 304);
});

test('literal link-local and metadata addresses are refused in every notation', async () => {
  const { fetch, asked } = open();
  const hosts = [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '0',
  ];
  for (const host of hosts) assert.match(await reasonOf(fetch(`http://${host}/latest`)), /never connects to it/, host);
  assert.deepEqual(asked, []);
});

test('a name is refused if any of its addresses is, and the checked lookup is the one connected to', async (t) => {
  const { port, seen } = await serve(t, (_, response) => response.end('ok'));
  const metadata = open({ addresses: ['1.1.1.1', '169.254.169.254'] });
  assert.match(await reasonOf(metadata.fetch('http://docs.example.com/')), /docs\.example\.com resolves to 169\.254/);
  const rebound = open();
  assert.match(await reasonOf(rebound.fetch(`http://evil.example.com:${port}/`)), /private address 127\.0\.0\.1\. If/);
  assert.equal(seen.length, 0);
  const listed = open({ privateHosts: ['Evil.example.com'] });
  assert.equal(await (await listed.fetch(`http://evil.example.com:${port}/`)).text(), 'ok');
  assert.deepEqual(listed.asked, ['evil.example.com']);
  assert.equal((await open().fetch(`http://gpu-box:${port}/`)).status, 200);
});
