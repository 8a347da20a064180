import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LIMITS } from '../../protocol/limits.ts';
import { listeningGateway } from './testing/listening-gateway.ts';
import { CONNECT } from './testing/test-client.ts';

test('a client connects, calls a method and reads its answer', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  assert.equal(client.hello.protocol, 2);
  assert.deepEqual(await client.call('system-presence'), client.hello.snapshot.presence);
});

test('both paths open a WebSocket, a query is ignored, other paths are not found', async () => {
  await using gateway = await listeningGateway();
  const at = (path: string) => gateway.open({}, path);
  for (const path of ['/', '/v1/ws', '/v1/ws?x=1']) assert.ok(await at(path));
  for (const path of ['/v1', '/v1/ws/', '/health', '/V1/WS']) await assert.rejects(at(path), { message: /404/ }); // of the HTTP server
});

test('compression is not accepted even if offered', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  assert.equal(client.socket.extensions, '');
});

test('a refused handshake is answered, then closed with its code and reason', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  const { error } = await client.request('connect', { ...CONNECT, maxProtocol: 1 });
  assert.deepEqual(
    [error?.code, await client.closed],
    ['INVALID_REQUEST', { code: 1002, reason: 'protocol mismatch' }],
  );
});

test('invalid JSON before the handshake closes the connection with 1000 and without an answer', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  client.socket.send('hello?');
  assert.deepEqual([await client.closed, client.frames], [{ code: 1000, reason: '' }, []]);
});

test('a silent client is closed after ten seconds', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  await gateway.clock.advance(LIMITS.handshakeMs);
  assert.deepEqual(await client.closed, { code: 1000, reason: '' });
});

test('an address may have 32 unauthenticated sockets; the next is refused, and open connections are not affected', async () => {
  await using gateway = await listeningGateway();
  const inside = await gateway.client();
  const silent = await Promise.all(Array.from({ length: 32 }, () => gateway.open()));
  await assert.rejects(gateway.open(), { message: /503/ });
  assert.ok(await inside.call('system-presence'));
  assert.equal(gateway.gateway.sockets.connections, 33);
  silent[0]?.socket.terminate();
  await silent[0]?.closed;
  while (gateway.gateway.sockets.connections > 32) await new Promise(setImmediate);
  assert.ok(await gateway.client(), 'a place was given back');
});

test('a handshake that ws itself refuses frees its place', async () => {
  await using gateway = await listeningGateway();
  const head = `GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  for (let i = 0; i < 40; i++) {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connectTcp(gateway.port, '127.0.0.1', () => socket.write(head));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    assert.match(answer, /^HTTP\/1\.1 400 /);
  }
});

test('a revoked credential closes its sockets with 1008, not those of others', async () => {
  await using gateway = await listeningGateway();
  const [revoked, other] = [await gateway.client('write-token'), await gateway.client('read-token')];
  gateway.revoke('write-token');
  assert.deepEqual(await revoked.closed, { code: 1008, reason: 'unauthorized' });
  assert.ok(await other.call('system-presence'));
});

test('every client gets a tick per interval', async () => {
  await using gateway = await listeningGateway();
  const [reader, approver] = [await gateway.client('read-token'), await gateway.client('approve-token')];
  await gateway.clock.advance(reader.hello.policy.tickIntervalMs);
  const told = await Promise.all([reader, approver].map((client) => client.event('tick')));
  const { payload } = told[0] ?? {};
  assert.deepEqual(told, Array(2).fill({ type: 'event', event: 'tick', payload, seq: told[0]?.seq }));
});

test('presence changes are published together within a second', async () => {
  await using gateway = await listeningGateway();
  const stays = await gateway.client();
  const goes = await gateway.client('read-token', { client: { ...CONNECT.client, name: 'guest' } });
  goes.socket.close();
  while (gateway.gateway.sockets.connections > 1) await new Promise(setImmediate);
  await gateway.clock.advance(1_000);
  const { payload, stateVersion } = await stays.event('presence');
  const { presence } = payload as { presence: { host: string; reason: string }[] };
  assert.deepEqual(
    presence.map(({ host, reason }) => [host, reason]),
    [
      ['here', 'self'],
      ['guest', 'disconnect'],
      ['test', 'connect'],
    ],
  );
  const { health } = stays.hello.snapshot.stateVersion;
  assert.deepEqual(stateVersion, { presence: gateway.parts.presence.version(), health });
});

test('a client that answers pings stays', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  for (let i = 0; i < 4; i++) {
    const pinged = new Promise((resolve) => client.socket.once('ping', resolve));
    await gateway.clock.advance(LIMITS.tickIntervalMs);
    await pinged;
    await client.call('system-presence'); // the pong was sent before it
  }
  assert.equal(client.socket.readyState, client.socket.OPEN);
});

test('shutdown is announced, then every socket closes with 1012, and new clients are refused', async () => {
  await using gateway = await listeningGateway();
  const [client, unopened] = [await gateway.client(), await gateway.open()];
  const down = gateway.gateway.sockets.shutdown('gateway stopping', { restartExpectedMs: 1_500 });
  const { payload } = await client.event('shutdown');
  assert.deepEqual(payload, { reason: 'gateway stopping', restartExpectedMs: 1_500 });
  for (const { closed } of [client, unopened]) {
    assert.deepEqual(await closed, { code: 1012, reason: 'service restart' });
  }
  await down;
  assert.equal(gateway.gateway.sockets.connections, 0);
  await assert.rejects(gateway.open(), { message: /503/ });
});

test('a client that does not answer the close frame is disconnected after a second', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.pause();
  const down = gateway.gateway.sockets.shutdown('gateway stopping');
  await gateway.clock.advance(1_000);
  await down;
  client.socket.resume();
  await client.closed;
});

test('a client that stops reading is disconnected and does not slow down others', async () => {
  await using gateway = await listeningGateway();
  const [stalled, lively] = [await gateway.client(), await gateway.client()];
  stalled.socket.pause();
  const reason = 'x'.repeat(256 * 1024);
  let published = 0;
  while (gateway.parts.broadcast.size === 2) {
    gateway.parts.broadcast.publish('shutdown', { reason });
    published += 1;
    await new Promise(setImmediate);
    assert.ok(published < 1_000, 'a budget is a budget');
  }
  await lively.call('system-presence');
  assert.equal(lively.events().filter(({ event }) => event === 'shutdown').length, published);
  stalled.socket.resume();
  assert.deepEqual(await stalled.closed, { code: 1008, reason: 'slow consumer' });
});

test('a socket that fails during a frame does no harm', async () => {
  await using gateway = await listeningGateway();
  const stays = await gateway.client();
  const breaks = await gateway.client();
  breaks.socket.send('{"type":"req"', { fin: false });
  breaks.socket.terminate();
  const garbage = connectTcp(gateway.port, '127.0.0.1');
  garbage.on('error', () => undefined);
  garbage.end('GET /v1/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\u0000\u0001');
  while (gateway.gateway.sockets.connections > 1) await new Promise(setImmediate);
  assert.ok(await stays.call('system-presence'));
});

test('a connection keeps nothing of its upgrade request, which has the headers and perhaps a cookie', async () => {
  await using gateway = await listeningGateway();
  const requests: WeakRef<IncomingMessage>[] = [];
  gateway.http.prependListener('upgrade', (request: IncomingMessage) => requests.push(new WeakRef(request)));
  await Promise.all(Array.from({ length: 5 }, () => gateway.client()));
  assert.equal(gateway.gateway.sockets.connections, 5);
  await new Promise(setImmediate);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setFlagsFromString('--no-expose-gc');
  assert.deepEqual(
    requests.map((request) => request.deref() === undefined),
    Array.from({ length: 5 }, () => true),
  );
});
