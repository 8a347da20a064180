import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

const BEACON = 'Node: den (10.0.0.9) · app 1.4 · last input 12s ago · mode ui · reason periodic';

test('a keepalive appears in the presence and is not an event for the agent', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('system-event', { text: BEACON, tags: ['lab'], lastInputSeconds: 'soon', unknown: 1 } as never);
  const [, den] = await gateway.call('system-presence', {});
  assert.deepEqual(den, {
    ...{ ts: 1_000_000, host: 'den', ip: '10.0.0.9', version: '1.4', lastInputSeconds: 12, mode: 'ui' },
    ...{ reason: 'periodic', tags: ['lab'], text: BEACON },
  });
  assert.deepEqual((await gateway.call('status', {})).queuedSystemEvents, []);
});

test('any other event is also queued for the main session', async () => {
  await using gateway = await wholeGateway();
  for (const text of ['Node: den · reason launch', 'the disk of den is nearly full']) {
    await gateway.call('system-event', { text, instanceId: 'DEN' });
  }
  const entries = await gateway.call('system-presence', {});
  assert.deepEqual(
    [entries.length, (await gateway.call('status', {})).queuedSystemEvents],
    [2, ['Node: den · reason launch', 'the disk of den is nearly full']],
  );
  for (const params of [{}, { text: ' ' }, { text: 7 }]) {
    assert.equal((await gateway.refusal('system-event', params)).code, 'INVALID_REQUEST');
  }
});
