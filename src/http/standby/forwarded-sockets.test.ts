import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { headersOf, standbyScene } from '../../testing/standby-scene.ts';
import { untilTrue } from '../../testing/until-true.ts';

const upgradeOf = (more: readonly string[] = [], target = '/v1/ws') =>
  [
    `GET ${target} HTTP/1.1`,
    ...['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: a2V5'],
    ...[...more, '', ''],
  ].join('\r\n');

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Accept: yes\r\n\r\n';

/** The active daemon accepts every socket. */
async function joined() {
  const sockets: { socket: Duplex; received: string }[] = [];
  const scene = await standbyScene({
    upgrade(_, socket, head) {
      const state = { socket, received: head.toString('latin1') };
      sockets.push(state);
      socket.on('data', (part: Buffer) => {
        state.received += part.toString('latin1');
      });
      socket.on('end', () => socket.end());
      socket.write(`${SWITCH}hello`, 'latin1');
    },
  });
  return { scene, sockets, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

test('a WebSocket is joined in both directions, and ends when its client leaves', async () => {
  await using world = await joined();
  const { scene, sockets } = world;
  const client = scene.send(`${upgradeOf(['X-Odd: \xe4'])}early`);
  await untilTrue(() => client.received().endsWith('hello'));
  assert.match(client.received(), /^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*X-Accept: yes\r\n/);
  client.socket.write('\x00\xff later', 'latin1');
  await untilTrue(() => sockets[0]?.received === 'early\x00\xff later');
  sockets[0]?.socket.write(Buffer.from([0, 255]));
  await untilTrue(() => client.received().endsWith('hello\x00\xff'));
  const [got] = scene.one.got;
  assert.ok(got);
  assert.deepEqual(got.client, { address: '127.0.0.1' });
  assert.deepEqual(
    headersOf(got).filter((line) => !line.startsWith('Sec-')),
    ['Host: localhost', 'X-Odd: \xe4', 'Upgrade: websocket'],
  );
  client.socket.destroy();
  await untilTrue(() => sockets[0]?.socket.destroyed === true);
  await untilTrue(() => scene.forwarder.counts.open === 0);
});

test('a WebSocket ends when the active daemon ends it, and when another one becomes active', async () => {
  await using world = await joined();
  const { scene, sockets } = world;
  const open = async () => {
    const client = scene.send(upgradeOf());
    await untilTrue(() => client.received().endsWith('hello'));
    return client;
  };
  const [ended, broken, left] = [await open(), await open(), await open()];
  sockets[0]?.socket.end('bye');
  await ended.closed;
  assert.ok(ended.received().endsWith('hellobye'));
  sockets[1]?.socket.destroy();
  await broken.closed;
  assert.equal(left.socket.destroyed, false);
  const two = await scene.another('two');
  scene.name(two.daemon);
  scene.forwarder.follow();
  await left.closed;
  await untilTrue(() => sockets[2]?.socket.destroyed === true);
  assert.doesNotMatch(left.received(), /503/);
  await untilTrue(() => scene.forwarder.counts.open === 0);
});

test('what the active daemon sent last reaches a slow client, which cannot hold the connection', async () => {
  await using world = await joined();
  const { scene, sockets } = world;
  const client = scene.send(upgradeOf());
  await untilTrue(() => client.received().endsWith('hello'));
  client.socket.pause();
  sockets[0]?.socket.end('x'.repeat(8_000_000));
  client.socket.resume();
  await client.closed;
  assert.ok(client.received().endsWith(`hello${'x'.repeat(8_000_000)}`));
});

test('the answer of a refused upgrade is passed on, and its connection closed even if the client keeps it', async () => {
  await using scene = await standbyScene({
    upgrade: (_, socket) =>
      void socket.end('HTTP/1.1 403 Forbidden\r\nX-Why: not you\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'),
  });
  const client = scene.send(upgradeOf());
  await client.closed;
  assert.match(client.received(), /^HTTP\/1\.1 403 Forbidden\r\nX-Why: not you\r\n[\s\S]*Connection: close\r\n\r\nno$/);
  for (const host of ['localhost', 'evil.example']) {
    const keeping = scene.send(upgradeOf().replace('localhost', host));
    keeping.socket.allowHalfOpen = true;
    await untilTrue(() => keeping.received().includes(' 403 '));
    assert.equal(await scene.connections(), 1, host);
    await untilTrue(() => keeping.socket.readableEnded);
    await scene.clock.advance(1_000);
    await untilTrue(() => scene.forwarder.counts.open === 0);
    assert.equal(await scene.connections(), 0, host);
    keeping.socket.destroy();
  }
  assert.equal(scene.one.got.length, 2);
});

const refused = /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*"error":"This machine is a standby/;

test('a WebSocket that cannot be forwarded is refused', async () => {
  await using world = await joined();
  const { scene } = world;
  scene.name(undefined);
  assert.match(await scene.ask(upgradeOf()), refused);
  scene.name(scene.one.daemon);
  assert.match(await scene.ask(upgradeOf(['Headgate-Forwarded: a;1;192.0.2.1;b'])), refused);
  assert.match(await scene.ask(upgradeOf(['Host: localhost'])), /^HTTP\/1\.1 400 /);
  const client = scene.send(upgradeOf());
  await untilTrue(() => client.received().endsWith('hello'));
  scene.one.forget();
  await scene.clock.advance(1_000);
  assert.match(await scene.ask(upgradeOf()), refused);
  const next = scene.send(upgradeOf([], 'http://localhost/node/here_0001/v1/ws'));
  await untilTrue(() => next.received().endsWith('hello'));
  assert.deepEqual([scene.one.state.greetings, client.socket.destroyed], [2, false]);
});

test('an active daemon that ends before it answers refuses a WebSocket', async () => {
  await using scene = await standbyScene({ upgrade: (_, socket) => void socket.destroy() });
  assert.match(await scene.ask(upgradeOf()), refused);
});

test('an upgrade that nobody offers is a plain request', async () => {
  await using scene = await standbyScene({
    answer: (_, res) => void res.end('plain'),
    upgrade: (_, socket) => void socket.destroy(),
  });
  const asked = upgradeOf(['Connection: close'], '/v1/api/workstreams').replace('websocket', 'h2c');
  assert.match(await scene.ask(asked.replace('Connection: Upgrade', 'Connection: Upgrade, close')), /plain/);
  assert.equal(scene.one.got[0]?.rawHeaders.includes('Upgrade'), false);
});

test('a request for a WebSocket with a body is refused', async () => {
  await using world = await joined();
  const { scene } = world;
  const client = scene.send(`${upgradeOf(['Content-Length: 5'])}early`);
  await client.closed;
  assert.match(client.received(), /^HTTP\/1\.1 400 /);
  assert.deepEqual(scene.one.got, []);
});
