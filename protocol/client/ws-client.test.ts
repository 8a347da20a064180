import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectedClient, newClient, refusal } from './testing/connected-client.ts';
import { hello } from './testing/fake-gateway.ts';
import { settled } from './testing/fake-timers.ts';

test('connecting sends the protocol range, the client and its token, and resolves with hello-ok', async () => {
  const { gateway, client, statuses } = newClient({ token: 'secret' });
  const connected = client.connect();
  await gateway.socket.accept();
  assert.deepEqual(await connected, hello());
  assert.deepEqual(gateway.socket.sent, [
    {
      type: 'req',
      id: 'connect',
      method: 'connect',
      params: {
        minProtocol: 2,
        maxProtocol: 2,
        client: { platform: 'node', name: 'test', version: '1', mode: 'test' },
        auth: { token: 'secret' },
      },
    },
  ]);
  assert.deepEqual(statuses, ['connecting', 'open']);
});

test('a refused handshake rejects connect and every call, and is not retried', async () => {
  const { gateway, timers, client, statuses } = newClient();
  const connected = refusal(client.connect());
  const call = refusal(client.call('health', undefined));
  await gateway.socket.refuse({ code: 'UNAUTHORIZED', message: 'unauthorized', retryable: false });
  for (const error of [await connected, await call, await refusal(client.call('health'))])
    assert.deepEqual(error, {
      name: 'RequestError',
      code: 'UNAUTHORIZED',
      message: 'unauthorized',
      retryable: false,
    });
  await timers.advance(60_000);
  assert.equal(gateway.sockets.length, 1);
  assert.deepEqual(statuses, ['connecting', 'closed']);
});

test('a revoked token closes the client: pending calls are lost, and later calls are refused', async () => {
  const { gateway, timers, client, statuses } = await connectedClient({ token: 'secret' });
  const carried = refusal(client.call('health'));
  await gateway.socket.drop(1008, 'unauthorized');
  assert.deepEqual(await carried, {
    name: 'ConnectionLostError',
    message: 'the connection was closed (1008 unauthorized)',
    reason: 'unauthorized',
    closing: 'unauthorized',
  });
  assert.deepEqual(await refusal(client.call('health')), {
    name: 'RequestError',
    code: 'UNAUTHORIZED',
    message: 'unauthorized: the token was revoked or replaced, or has expired',
    retryable: false,
  });
  await timers.advance(60_000);
  assert.equal(gateway.sockets.length, 1);
  assert.deepEqual(statuses, ['connecting', 'open', 'closed']);
});

test('without a token, the client retries once after a login has ended, because the cookie may be new', async () => {
  const { gateway, timers, statuses } = await connectedClient();
  await gateway.socket.drop(1008, 'unauthorized');
  await timers.advance(1000);
  await gateway.socket.refuse({ code: 'UNAUTHORIZED', message: 'unauthorized', retryable: false });
  await timers.advance(60_000);
  assert.equal(gateway.sockets.length, 2);
  assert.deepEqual(statuses, ['connecting', 'open', 'waiting', 'connecting', 'closed']);
});

/** Whether a client reconnects after this closing, with a token and with only the browser's cookie. */
const GOES_ON: [code: number, reason: string, withToken: boolean, withCookie: boolean][] = [
  [1000, '', true, true],
  [1002, 'protocol mismatch', false, false],
  [1006, '', true, true],
  [1008, 'invalid handshake', false, false],
  [1008, 'unauthorized', false, true],
  [1008, 'rights changed', true, true],
  [1008, 'slow consumer', true, true],
  [1008, 'replaced by a newer connection of this node', false, false],
  [1008, 'pairing expired', true, true],
  [1008, 'a reason that only newer gateways give', true, true],
  [1009, '', true, true],
  [1011, '', true, true],
  [1012, 'service restart', true, true],
  [1013, 'too many nodes wait to be paired', true, true],
];

for (const [code, reason, withToken, withCookie] of GOES_ON) {
  test(`after the closing ${code} ${reason} a client knows whether to reconnect`, async () => {
    const outcomes: unknown[] = [];
    for (const options of [{ token: 'secret' }, {}]) {
      const { gateway, timers, client, statuses } = await connectedClient(options);
      await gateway.socket.drop(code, reason);
      await timers.advance(1000);
      outcomes.push([gateway.sockets.length > 1, statuses.includes('closed')]);
      client.close();
    }
    assert.deepEqual(outcomes, [
      [withToken, !withToken],
      [withCookie, !withCookie],
    ]);
  });
}

test('a replaced node gets the closing as data', async () => {
  const { gateway, client } = await connectedClient({ token: 'secret' });
  await gateway.socket.drop(1008, 'replaced by a newer connection of this node');
  assert.deepEqual(await refusal(client.call('health')), {
    name: 'ConnectionLostError',
    message: 'the connection was closed (1008 replaced by a newer connection of this node)',
    reason: 'replaced by a newer connection of this node',
    closing: 'node_replaced',
  });
});

test('a call that is meant for now is not sent later', async () => {
  const { gateway, timers, client } = await connectedClient();
  await gateway.socket.drop(1012, 'service restart');
  const stop = client.call('workstream.cancel', { wsId: 'w' }, { atOnce: true });
  assert.equal((await refusal(stop)).message, 'there is no connection to the gateway');
  await timers.advance(1000);
  await gateway.socket.accept();
  assert.deepEqual(gateway.socket.calls, []);
  const sent = refusal(client.call('workstream.cancel', { wsId: 'w' }, { atOnce: true }));
  assert.equal(gateway.socket.calls.length, 1);
  client.close();
  await sent;
});

test('an error names the address that refuses connections', async () => {
  const { gateway, client } = newClient({ reconnect: false });
  const connected = refusal(client.connect());
  await gateway.socket.drop();
  assert.deepEqual(await connected, {
    name: 'ConnectionLostError',
    message: 'no gateway answers at ws://gateway/',
    reason: '',
  });
});

test('calls sent over a connection that ended are rejected as lost; later calls wait for the next one', async () => {
  const { gateway, timers, client, statuses } = await connectedClient();
  const carried = refusal(client.call('health'));
  await gateway.socket.drop(1012, 'service restart');
  assert.deepEqual(await carried, {
    name: 'ConnectionLostError',
    message: 'the connection was closed (1012 service restart)',
    reason: 'service restart',
    closing: 'service_restart',
  });

  const waiting = client.call('status');
  await timers.advance(1000);
  await gateway.socket.accept();
  assert.equal(gateway.sockets.length, 2);
  assert.deepEqual(gateway.socket.calls, [{ type: 'req', id: '2', method: 'status' }]);
  await gateway.socket.answer({ id: '2', ok: true, payload: { heartbeatSeconds: 0 } });
  assert.deepEqual(await waiting, { heartbeatSeconds: 0 });
  assert.deepEqual(statuses, ['connecting', 'open', 'waiting', 'connecting', 'open']);
});

test('the backoff doubles from one second to thirty and starts over after a success', async () => {
  const waits: number[] = [];
  const { gateway, timers, client } = newClient({
    onStatus: (status) => status.kind === 'waiting' && waits.push(status.retryInMs),
  });
  client.connect();
  for (let i = 0; i < 7; i++) {
    await gateway.socket.drop();
    await timers.advance(waits.at(-1) ?? 0);
  }
  await gateway.socket.accept();
  await gateway.socket.drop();
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000]);
});

test('retryNow ends the backoff', async () => {
  const { gateway, timers, client } = newClient();
  client.connect();
  await gateway.socket.drop();
  client.retryNow();
  assert.equal(gateway.sockets.length, 2);
  await timers.advance(5000);
  assert.equal(gateway.sockets.length, 2, 'the timer of the wait is gone');
});

test('a connection that is silent for two ticks is closed; one with ticks is not', async () => {
  const { gateway, timers, client, statuses } = newClient();
  client.connect();
  await gateway.socket.accept(hello({ tickIntervalMs: 100 }));
  await timers.advance(150);
  await gateway.socket.event({ event: 'tick', payload: { ts: 1 } });
  await timers.advance(199);
  assert.deepEqual(statuses, ['connecting', 'open']);
  await timers.advance(1);
  assert.deepEqual(statuses, ['connecting', 'open', 'waiting']);
  assert.equal(gateway.socket.closedWith, 1000);
});

test('a handshake without an answer times out after ten seconds', async () => {
  const { timers, client, statuses } = newClient();
  client.connect();
  await timers.advance(9999);
  assert.deepEqual(statuses, ['connecting']);
  await timers.advance(1);
  assert.deepEqual(statuses, ['connecting', 'waiting']);
});

test('a client that does not reconnect is closed by its first lost connection', async () => {
  const { gateway, client, statuses } = newClient({ reconnect: false });
  const connected = refusal(client.connect());
  await gateway.socket.drop();
  assert.equal((await connected).name, 'ConnectionLostError');
  assert.deepEqual(statuses, ['connecting', 'closed']);
});

test('events reach their listeners until they are removed', async () => {
  const { gateway, client } = await connectedClient();
  const seen: unknown[] = [];
  const remove = client.on('tick', (payload) => seen.push(payload));
  await gateway.socket.event({ event: 'tick', payload: { ts: 1 }, seq: 1 });
  remove();
  await gateway.socket.event({ event: 'tick', payload: { ts: 2 }, seq: 2 });
  assert.deepEqual(seen, [{ ts: 1 }]);
});

test('a gap in seq is reported; a new connection that starts over is not a gap', async () => {
  const gaps: unknown[] = [];
  const { gateway, timers } = await connectedClient({ onGap: (gap) => gaps.push(gap) });
  await gateway.socket.event({ event: 'tick', seq: 7 });
  await gateway.socket.event({ event: 'tick', seq: 8 });
  await gateway.socket.event({ event: 'tick', seq: 11 });
  await gateway.socket.drop();
  await timers.advance(1000);
  await gateway.socket.accept();
  await gateway.socket.event({ event: 'tick', seq: 20 });
  assert.deepEqual(gaps, [{ expected: 9, received: 11 }]);
});

test('text that is not a frame is ignored', async () => {
  const { gateway, client } = await connectedClient();
  for (const data of ['{', '3', 'null', '{}', '{"type":"req"}', new ArrayBuffer(1)]) await gateway.socket.deliver(data);
  const call = client.call('health');
  await gateway.socket.answer({ id: '1', ok: true, payload: 1 });
  assert.equal(await call, 1);
});

test('closing rejects pending calls, closes the socket and does not reconnect', async () => {
  const { gateway, timers, client, statuses } = await connectedClient();
  const call = refusal(client.call('health'));
  client.close();
  client.close();
  assert.equal((await call).name, 'ConnectionLostError');
  assert.equal(gateway.socket.closedWith, 1000);
  await gateway.socket.drop();
  await timers.advance(60_000);
  assert.equal(gateway.sockets.length, 1);
  assert.deepEqual(statuses, ['connecting', 'open', 'closed']);
  assert.equal((await refusal(client.call('health'))).name, 'ConnectionLostError');
});

test('a call on a socket that is closing is sent on the next one', async () => {
  const { gateway, timers, client } = await connectedClient();
  const closing = gateway.socket;
  const sent = closing.sent.length;
  closing.readyState = 2;
  const call = client.call('health');
  await settled();
  assert.equal(closing.sent.length, sent);
  await closing.drop(1012);
  await timers.advance(1000);
  await gateway.socket.accept();
  assert.equal(gateway.socket.sent.at(-1)?.method, 'health');
  await gateway.socket.answer({ id: gateway.socket.sent.at(-1)?.id ?? '', ok: true, payload: {} });
  assert.deepEqual(await call, {});
});

test('an invalid address closes the client', async () => {
  const { client, statuses } = newClient({ url: 'no address', WebSocket: globalThis.WebSocket });
  assert.equal((await refusal(client.connect())).name, 'SyntaxError');
  assert.deepEqual(statuses, ['connecting', 'closed']);
});

test('connect returns the same promise each time', async () => {
  const { gateway, client } = newClient();
  const promises = [client.connect(), client.connect()];
  await settled();
  await gateway.socket.accept();
  assert.deepEqual(await Promise.all(promises), [hello(), hello()]);
  assert.equal(gateway.sockets.length, 1);
});
