import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, isIPv6, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createGuardedEgress } from './guarded-egress.ts';

async function serve(t: TestContext, listener: RequestListener) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, seen };
}

/** A proxy that answers requests itself and refuses tunnels. */
async function serveProxy(t: TestContext) {
  const asked: string[] = [];
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.end('from the proxy');
  });
  server.on('connect', ({ url }, socket: Duplex) => {
    asked.push(`CONNECT ${url}`);
    socket.end('HTTP/1.1 502 No\r\n\r\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked };
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

interface Opening {
  addresses?: string[];
  privateHosts?: string[];
  environment?: Record<string, string>;
}

/** Both ways to send a POST, in one form. */
function open({ addresses = ['127.0.0.1'], privateHosts = [], environment = {} }: Opening = {}) {
  const { asked, lookup } = resolver(...addresses);
  const { fetch, post } = createGuardedEgress({ privateHosts: () => privateHosts, environment, lookup });
  const { signal } = new AbortController();
  const ways: Record<(typeof WAYS)[number], Send> = {
    async fetch(url, headers = {}) {
      const response = await fetch(url, { method: 'POST', body: 'hello', headers, redirect: 'follow' });
      return { status: response.status, text: await response.text() };
    },
    async post(url, headers = {}) {
      const { status, body } = await post(url, { body: 'hello', headers, signal });
      const pieces: Uint8Array[] = [];
      for (let read = await body.read(); read; read = await body.read()) pieces.push(...read);
      return { status, text: Buffer.concat(pieces).toString() };
    },
  };
  return { asked, ways };
}

const WAYS = ['fetch', 'post'] as const;
type Send = (url: string, headers?: Record<string, string>) => Promise<{ status: number; text: string }>;

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

for (const way of WAYS) {
  test(`${way}: a request reaches its server with headers and body, and the answer streams`, async (t) => {
    const { port, seen } = await serve(t, (request, response) => request.pipe(response));
    const answered = await open().ways[way](`http://127.0.0.1:${port}/x`, { a: 'b' });
    assert.deepEqual([answered, seen[0]?.a], [{ status: 200, text: 'hello' }, 'b']);
  });

  test(`${way}: a user and a password in the address are sent as Basic authentication, and no error repeats them`, async (t) => {
    const { port, seen } = await serve(t, (request, response) =>
      request.url === '/cut' ? request.socket.destroy() : response.end(),
    );
    const send = open().ways[way];
    const address = `http://ada:p%40ss%25@127.0.0.1:${port}`;
    await send(`${address}/x`, { a: 'b' });
    await send(address, { Authorization: 'Bearer key' });
    assert.deepEqual(
      seen.map(({ authorization, a }) => [authorization, a]),
      [
        [`Basic ${Buffer.from('ada:p@ss%').toString('base64')}`, 'b'],
        ['Bearer key', undefined],
      ],
    );
    await assert.rejects(send(`${address}/cut`), (error) => !/p(@|%40)ss/.test(inspect(error)));
  });

  test(`${way}: an error about a header that cannot be sent does not repeat its value`, async (t) => {
    const { port, seen } = await serve(t, (_, response) => response.end());
    const send = open().ways[way];
    const address = `http://127.0.0.1:${port}/`;
    for (const value of ['Bearer canary\nsecond line', 'canary\u0000', 'canary…'])
      await assert.rejects(send(address, { authorization: value }), (error) => {
        assert.doesNotMatch(inspect(error), /canary/);
        return /header authorization has characters/.test(inspect(error));
      });
    assert.equal(seen.length, 0);
  });

  for (const status of [301, 302, 303, 307, 308])
    test(`${way}: a ${status} is not followed, and the other host receives no request`, async (t) => {
      const other = await serve(t, (_, response) => response.end());
      const first = await serve(t, (_, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${other.port}/` }).end(),
      );
      const sent = open().ways[way](`http://127.0.0.1:${first.port}/`, { 'x-api-key': 'k' });
      assert.match(
        await reasonOf(sent),
        new RegExp(`redirect to http://127\\.0\\.0\\.1:${other.port}\\. Redirects are not`),
      );
      assert.deepEqual([first.seen.length, other.seen.length], [1, 0]);
    });

  test(`${way}: a relative redirect is refused, a 304 is not`, async (t) => {
    const { port } = await serve(t, ({ url }, response) =>
      response.writeHead(url === '/moved' ? 302 : 304, { location: '/there' }).end(),
    );
    const send = open().ways[way];
    assert.match(await reasonOf(send(`http://127.0.0.1:${port}/moved`)), /redirect to http:\/\/127/);
    assert.equal((await send(`http://127.0.0.1:${port}/same`)).status, 304);
  });

  test(`${way}: literal link-local and metadata addresses are refused in every notation`, async () => {
    const { ways, asked } = open();
    const hosts = [
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '[fe80::1]',
      '[::ffff:169.254.169.254]',
      '[fd00:ec2::254]',
      '0',
    ];
    for (const host of hosts)
      assert.match(await reasonOf(ways[way](`http://${host}/latest`)), /never connects to it/, host);
    assert.deepEqual(asked, []);
  });

  test(`${way}: a name is refused if any of its addresses is, and the checked lookup is the one connected to`, async (t) => {
    const { port, seen } = await serve(t, (_, response) => response.end('ok'));
    const metadata = open({ addresses: ['1.1.1.1', '169.254.169.254'] }).ways[way];
    assert.match(await reasonOf(metadata('http://docs.example.com/')), /docs\.example\.com resolves to 169\.254/);
    const rebound = open().ways[way];
    assert.match(await reasonOf(rebound(`http://evil.example.com:${port}/`)), /private address 127\.0\.0\.1\. If/);
    assert.equal(seen.length, 0);
    const listed = open({ privateHosts: ['Evil.example.com'] });
    assert.equal((await listed.ways[way](`http://evil.example.com:${port}/`)).text, 'ok');
    assert.deepEqual(listed.asked, ['evil.example.com']);
    assert.equal((await open().ways[way](`http://gpu-box:${port}/`)).status, 200);
  });

  test(`${way}: NODE_USE_ENV_PROXY=1 enables the proxy variables, and NO_PROXY names exceptions`, async (t) => {
    const { port } = await serve(t, (_, response) => response.end('direct'));
    const { url: HTTP_PROXY, asked } = await serveProxy(t);
    const environment = { HTTP_PROXY, no_proxy: 'direct.example.com', NODE_USE_ENV_PROXY: '1' };
    const privateHosts = ['model.example.com', 'direct.example.com'];
    const { ways, asked: lookedUp } = open({ environment, privateHosts });
    assert.equal((await ways[way]('http://model.example.com/v1')).text, 'from the proxy');
    await assert.rejects(ways[way]('https://model.example.com/v1'));
    assert.equal((await ways[way](`http://direct.example.com:${port}/`)).text, 'direct');
    assert.match(await reasonOf(ways[way]('http://169.254.169.254/')), /never connects to it/);
    assert.deepEqual(
      { asked, lookedUp },
      {
        asked: ['POST http://model.example.com/v1', 'CONNECT model.example.com:443'],
        lookedUp: ['direct.example.com'],
      },
    );
  });

  test(`${way}: without NODE_USE_ENV_PROXY=1, proxy variables have no effect`, async (t) => {
    const { port } = await serve(t, (_, response) => response.end('direct'));
    const { url: http_proxy, asked } = await serveProxy(t);
    const { ways } = open({ environment: { http_proxy }, privateHosts: ['model.example.com'] });
    assert.equal((await ways[way](`http://model.example.com:${port}/`)).text, 'direct');
    assert.deepEqual(asked, []);
  });
}
