import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openGateway } from './testing/gateway-fixture.ts';

test('a client connects, calls a method and reads its answer', async () => {
  await using gateway = await openGateway();
  const client = await gateway.connect();
  assert.equal(client.hello.protocol, 2);
  assert.deepEqual(await client.call('system-presence', {}), client.hello.snapshot.presence);
});
