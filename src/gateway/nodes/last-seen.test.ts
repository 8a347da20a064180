import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNodeGateway } from '../testing/node-gateway.ts';

test('`extended` shows when a disconnected node was last seen', async () => {
  await using gateway = await openNodeGateway();
  const lastSeen = async (extended?: boolean) => {
    const { nodes } = await gateway.call('node.list', { extended });
    return nodes.map(({ lastSeenAtMs }) => lastSeenAtMs);
  };
  const token = await gateway.pair('n1');
  assert.deepEqual(await lastSeen(true), [undefined]);
  const node = await gateway.connect({ nodeId: 'n1', token });
  await gateway.arrives('n1');
  assert.deepEqual(await lastSeen(true), [undefined]);
  await gateway.clock.advance(5_000);
  node.socket.close();
  await gateway.leaves('n1');
  assert.deepEqual([await lastSeen(true), await lastSeen()], [[1_005_000], [undefined]]);
  await gateway.pair('n1');
  assert.deepEqual(await lastSeen(true), [1_005_000]);
  await gateway.restart();
  assert.deepEqual(await lastSeen(true), [1_005_000]);
});

test('nodes of a daemon that died were last seen at its last sign of life, which is stored once', async () => {
  await using gateway = await openNodeGateway();
  const lastSeen = async () => {
    const { nodes } = await gateway.call('node.list', { extended: true });
    return nodes.map(({ lastSeenAtMs }) => lastSeenAtMs);
  };
  await gateway.join('n1');
  await gateway.arrives('n1');
  await gateway.store.markAlive(1_050_000);
  await gateway.crash();
  assert.deepEqual(await lastSeen(), [1_050_000]);
  await gateway.store.markAlive(1_090_000);
  await gateway.restart();
  assert.deepEqual(await lastSeen(), [1_050_000]);
});
