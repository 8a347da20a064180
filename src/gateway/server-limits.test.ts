import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { HelloOk } from '../../protocol/connect.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { listeningGateway } from './testing/listening-gateway.ts';
import { openNodeGateway } from './testing/node-gateway.ts';
import { CONNECT, type TestClient } from './testing/test-client.ts';

const BEFORE = LIMITS.maxPayloadBeforeConnectBytes;
const AFTER = LIMITS.maxPayloadBytes;
const TOO_BIG = { code: 1009, reason: '' };

type Send = (client: TestClient, text: string) => void;

const inOne: Send = ({ socket }, text) => socket.send(text);
const inPieces: Send = ({ socket }, text) => {
  const third = Math.ceil(text.length / 3);
  socket.send(text.slice(0, third), { fin: false });
  socket.send(text.slice(third, 2 * third), { fin: false });
  socket.send(text.slice(2 * third), { fin: true });
};

/** A request of exactly this many bytes. */
function requestOf(bytes: number, method: string, params: object): string {
  const text = (pad: string) =>
    JSON.stringify({ type: 'req', id: 'big', method, params: { ...params, userAgent: pad } });
  return text('x'.repeat(bytes - text('').length));
}

const connectOf = (bytes: number) => requestOf(bytes, 'connect', { ...CONNECT, auth: { token: 'read-token' } });

for (const [way, send] of Object.entries({ 'one frame': inOne, 'three fragments': inPieces })) {
  for (const bytes of [BEFORE - 1, BEFORE]) {
    test(`a first request of ${bytes} bytes in ${way} is read`, async () => {
      await using gateway = await listeningGateway();
      const client = await gateway.open();
      send(client, connectOf(bytes));
      assert.equal((await client.answerTo('big')).ok, true);
    });
  }

  test(`a first request of ${BEFORE + 1} bytes in ${way} closes with 1009`, async () => {
    await using gateway = await listeningGateway();
    const client = await gateway.open();
    send(client, connectOf(BEFORE + 1));
    assert.deepEqual([await client.closed, client.frames], [TOO_BIG, []]);
  });

  // Raising the limit uses internals of ws: these tests fail when a new version changes them.
  for (const bytes of [BEFORE + 1, AFTER - 1, AFTER]) {
    test(`a request of ${bytes} bytes in ${way} is read once connected`, async () => {
      await using gateway = await listeningGateway();
      const client = await gateway.client();
      send(client, requestOf(bytes, 'system-presence', {}));
      assert.equal((await client.answerTo('big')).ok, true);
      assert.deepEqual(
        gateway.log.lines.filter(([level]) => level === 'error'),
        [],
      );
    });
  }

  test(`a request of ${AFTER + 1} bytes in ${way} closes with 1009 once connected`, async () => {
    await using gateway = await listeningGateway();
    const client = await gateway.client();
    send(client, requestOf(AFTER + 1, 'system-presence', {}));
    assert.deepEqual(await client.closed, TOO_BIG);
  });
}

test('raising the limit for one client does not raise it for the next', async () => {
  await using gateway = await listeningGateway();
  await gateway.client();
  const client = await gateway.open();
  client.socket.send(connectOf(BEFORE + 1));
  assert.deepEqual(await client.closed, TOO_BIG);
});

test('a message of 256 fragments is read, one of 257 is not', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const sendIn = (fragments: number) => {
    const text = requestOf(fragments * 2, 'system-presence', {});
    for (let i = 0; i < fragments; i++) {
      client.socket.send(text.slice(i * 2, i * 2 + 2), { fin: i === fragments - 1 });
    }
  };
  sendIn(256);
  assert.equal((await client.answerTo('big')).ok, true);
  sendIn(257);
  assert.equal((await client.closed).code, 1008);
});

test('invalid UTF-8 closes the connection; an escaped half of a surrogate pair is refused', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.send('{"type":"req","id":"s","method":"system-presence","params":{"x":"\\ud800"}}');
  assert.deepEqual(
    (await client.answerTo('s')).error?.message,
    'invalid request frame: a string holds half of a surrogate pair',
  );
  client.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
  assert.equal((await client.closed).code, 1007);
});

test('a binary message is refused like any invalid request', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.send(Buffer.from('{}'));
  const { error } = await client.answerTo('invalid');
  assert.deepEqual([error?.code, error?.message], ['INVALID_REQUEST', 'invalid request frame: not JSON']);
  assert.ok(await client.call('system-presence'));
});

test('the largest frame announced in hello is the actual limit, also for an unpaired machine', async () => {
  await using gateway = await openNodeGateway();
  const joined = [await gateway.connect({ nodeId: 'stranger' }), await gateway.join('paired')];
  const said = joined.map(({ hello }) => (hello.payload as HelloOk).policy.maxPayload);
  assert.deepEqual(said, [BEFORE, AFTER]);
  for (const [index, client] of joined.entries()) {
    const bytes = said[index] ?? 0;
    client.socket.send(requestOf(bytes, 'node.event', {}));
    assert.notEqual((await client.answerTo('big')).error, undefined);
    client.socket.send(requestOf(bytes + 1, 'node.event', {}));
    assert.deepEqual(await client.closed, TOO_BIG);
  }
});

test('a duplicate property and one named `__proto__` are refused', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.send('{"type":"req","id":"first","id":"last","method":"connect","method":"system-presence"}');
  assert.equal(
    (await client.answerTo('last')).error?.message,
    'invalid request frame: "id" occurs twice in one object',
  );
  client.socket.send('{"type":"req","id":"proto","method":"workstream.list","params":{},"__proto__":{"type":"res"}}');
  assert.equal(
    (await client.answerTo('proto')).error?.message,
    'invalid request frame: a property cannot be named __proto__',
  );
});

test('a client that is still sending a frame that is too large gets to know why it is closed', async () => {
  await using gateway = await listeningGateway();
  const socket = connect(gateway.port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  const head = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(['GET /v1/ws HTTP/1.1', ...head, `Sec-WebSocket-Key: ${'a'.repeat(22)}==`, '', ''].join('\r\n'));
  await once(socket, 'data');
  const frame = Buffer.alloc(14 + 32_000_000);
  frame.set([0x81, 0xff]);
  frame.writeBigUInt64BE(32_000_000n, 2);
  socket.pause();
  const problem = await new Promise((written) => socket.write(frame, written));
  socket.resume();
  socket.end();
  await once(socket, 'close');
  assert.deepEqual([problem ?? undefined, received.slice(-4)], [undefined, '\x88\x02\x03\xf1']);
});
