import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { listeningGateway } from '../../src/gateway/testing/listening-gateway.ts';

for (const [name, implementation] of [
  ['the global WebSocket', globalThis.WebSocket],
  ['ws', WebSocket],
] as const) {
  test(`the typed client connects, calls, reads two answers and reports error codes, over ${name}`, async () => {
    await using gateway = await listeningGateway();
    const client = createGatewayClient({
      url: `ws://127.0.0.1:${gateway.port}/`,
      token: 'write-token',
      client: { name: 'test', version: '1', mode: 'test' },
      WebSocket: implementation,
    });
    const hello = await client.connect();
    const interims: unknown[] = [];
    const onInterim = (payload: unknown) => interims.push(payload);
    assert.equal(hello.server.version, '1.2.3');
    assert.deepEqual(await client.call('system-presence'), hello.snapshot.presence);
    assert.deepEqual(await client.call('agent', { message: 'hi', idempotencyKey: 'k' }, { onInterim }), {
      runId: 'k',
      status: 'ok',
      summary: 'completed',
    });
    assert.deepEqual(interims, [{ runId: 'k', status: 'accepted' }]);
    await assert.rejects(client.call('workstream.send', { wsId: await gateway.main(), message: '' }), {
      name: 'RequestError',
      code: 'INVALID_REQUEST',
    });
    client.close();
  });

  test(`the typed client stops reconnecting after a wrong token, over ${name}`, async () => {
    await using gateway = await listeningGateway();
    const client = createGatewayClient({
      url: `ws://127.0.0.1:${gateway.port}/`,
      token: 'guess',
      client: { name: 'test', version: '1', mode: 'test' },
      WebSocket: implementation,
    });
    await assert.rejects(client.connect(), { name: 'RequestError', code: 'UNAUTHORIZED' });
  });
}
