import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type LookupFunction, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { HostDecision } from '../host-decision.ts';
import { type Connection, createEgressProxy } from './egress-proxy.ts';
import { parseTarget } from './proxy-target.ts';

/** Names, and the addresses to which they resolve; the last one of `rebound` comes with the second look. */
const NAMES: Record<string, string[]> = {
  'public.test': ['93.184.216.34'],
  'private.test': ['10.0.0.1'],
  'mixed.test': ['93.184.216.34', '192.168.1.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'local.test': ['127.0.0.1'],
};

const lookup: LookupFunction = (host, options, callback) => {
  const addresses = (NAMES[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (addresses.length === 0) return callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '', 0);
  if (options.all) callback(null, addresses);
  else callback(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 4);
};

async function start(t: TestContext, decide: (host: string) => HostDecision) {
  const seen: Connection[] = [];
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const proxy = createEgressProxy({ lookup });
  const serving = proxy.serve(listener, {
    decide: ({ host }) => decide(host),
    onConnection: (connection) => seen.push(connection),
  });
  t.after(() => serving[Symbol.asyncDispose]());
  const { port } = listener.address() as AddressInfo;
  /** Everything that comes back for raw bytes. */
  const send = async (bytes: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(bytes);
    return text(socket);
  };
  return {
    seen,
    port,
    serving,
    send,
    tunnel: (target: string) => send(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`),
  };
}

const allow = (mayBePrivate: boolean) => (): HostDecision => ({ kind: 'allow', mayBePrivate });
const status = (answer: string) => answer.split(' ')[1];

async function serve(t: TestContext) {
  const server = createHttpServer((asked, answer) => {
    answer.setHeader('x-host', asked.headers.host ?? '');
    asked.pipe(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a tunnel and a plain request reach an allowed host, and both are reported', async (t) => {
  const [it, target] = [await start(t, allow(true)), await serve(t)];
  const raw = `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const tunnelled = await it.send(`CONNECT local.test:${target} HTTP/1.1\r\n\r\n${raw}`);
  assert.match(tunnelled, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  const asked = request({
    port: it.port,
    method: 'POST',
    path: `http://local.test:${target}/a`,
    headers: { host: 'other', connection: 'close' },
  });
  asked.end('body');
  const [answer] = await once(asked, 'response');
  assert.deepEqual([answer.headers['x-host'], await text(answer)], [`local.test:${target}`, 'body']);
  const connected = { host: 'local.test', port: target, outcome: 'connected' };
  assert.deepEqual(it.seen, [connected, connected]);
});

test('a server may think for as long as the program waits, and no longer', async (t) => {
  const sockets = new Set<Socket>();
  const { setTimeout: limit } = Socket.prototype;
  t.mock.method(Socket.prototype, 'setTimeout', function (this: Socket, ...args: Parameters<Socket['setTimeout']>) {
    sockets.add(this);
    return limit.apply(this, args);
  });
  const thinking = createHttpServer(); // never answers
  thinking.listen(0, '127.0.0.1');
  await once(thinking, 'listening');
  t.after(() => thinking.close());
  const { port: target } = thinking.address() as AddressInfo;
  const it = await start(t, allow(true));
  const asked = request({ port: it.port, path: `http://local.test:${target}/a` });
  asked.on('error', () => undefined); // it is given up
  asked.end();
  const [{ socket: atServer }] = await once(thinking, 'request');
  const upstream = [...sockets].find(({ localPort }) => localPort === atServer.remotePort);
  assert.equal(upstream?.timeout, 0);
  asked.destroy();
  await once(atServer, 'close');
});

test('a host that is not allowed is refused before it is resolved', async (t) => {
  const it = await start(t, () => ({ kind: 'deny' }));
  assert.equal(status(await it.tunnel('public.test:443')), '403');
  assert.equal(
    status(await it.send('GET http://public.test/ HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n\r\n')),
    '403',
  );
  assert.deepEqual(
    it.seen.map(({ port, outcome }) => [port, outcome]),
    [
      [443, 'refused'],
      [80, 'refused'],
    ],
  );
});

const ownAddress = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test('private and reserved addresses are refused, in every spelling, also behind a name or beside a public one', async (t) => {
  const it = await start(t, allow(false));
  const targets = [
    ...['private.test:443', 'mixed.test:443', 'metadata.test:80', 'mapped.test:80', 'local.test:80'],
    ...['127.0.0.1:80', '127.1:80', '2130706433:80', '0x7f.1:80', '[::1]:80', '[::ffff:7f00:1]:80', '10.0.0.1:80'],
    ...['169.254.169.254:80', '[fd00:ec2::254]:80', '0.0.0.0:80', 'private.test.:443', '192.168.0.1.:80'],
    ...(ownAddress === undefined ? [] : [`${ownAddress}:80`]),
  ];
  const answers = await Promise.all(targets.map(async (target) => [target, status(await it.tunnel(target))]));
  assert.deepEqual(
    answers.filter(([, answer]) => answer !== '403' && answer !== '502'),
    [],
  );
  assert.deepEqual(
    it.seen.filter(({ outcome }) => outcome === 'connected'),
    [],
  );
  const metadata = await start(t, allow(true));
  assert.equal(status(await metadata.tunnel('metadata.test:80')), '403');
});

test('what is no host and port is answered with 400', async (t) => {
  const it = await start(t, allow(true));
  const targets = [
    'public.test',
    'user@public.test:443',
    'public.test:0',
    'public.test:99999',
    'a%00b:443',
    'a/b:443',
    ':443',
    '..:443',
  ];
  const answers = await Promise.all(targets.map(async (target) => status(await it.tunnel(target))));
  assert.deepEqual(
    answers,
    targets.map(() => '400'),
  );
  assert.equal(
    status(await it.send('GET /relative HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n\r\n')),
    '400',
  );
  assert.deepEqual(it.seen, []);
});

test('names that mean the same are one name', () => {
  assert.deepEqual(
    ['Example.COM.:443', '[FD00::1]:443', '017700000001:80', 'xn--bcher-kva.example:443'].map(
      (target) => parseTarget(target)?.host,
    ),
    ['example.com', 'fd00::1', '127.0.0.1', 'xn--bcher-kva.example'],
  );
  assert.equal(parseTarget('bücher.example:443'), undefined);
});

test('a listener can lead to a port of this machine, if that is allowed by name', async (t) => {
  const target = await serve(t);
  const ask = async (decide: (host: string) => HostDecision) => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const seen: string[] = [];
    const serving = createEgressProxy().lead(listener, target, {
      decide: ({ host }) => decide(host),
      onConnection: ({ host, outcome }) => seen.push(`${host} ${outcome}`),
    });
    const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const answer = await text(socket).catch(() => '');
    await serving[Symbol.asyncDispose]();
    return [status(answer), seen];
  };
  assert.deepEqual(await ask(allow(true)), ['200', ['localhost connected']]);
  assert.deepEqual(await ask(allow(false)), [undefined, ['localhost refused']]);
  assert.deepEqual(await ask(() => ({ kind: 'deny' })), [undefined, ['localhost refused']]);
});

test('its end closes the listener and all connections', async (t) => {
  const [it, target] = [await start(t, allow(true)), createServer().listen(0, '127.0.0.1')];
  await once(target, 'listening');
  const socket = connect(it.port, '127.0.0.1');
  socket.write(`CONNECT local.test:${(target.address() as AddressInfo).port} HTTP/1.1\r\n\r\n`);
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await it.serving[Symbol.asyncDispose]();
  await closed;
  target.close();
});
