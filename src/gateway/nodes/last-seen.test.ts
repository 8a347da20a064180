import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../store/statements.ts';
import { openNodeGateway } from '../testing/node-gateway.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('with `extended` it is told when a node that is away was here', async () => {
  await using gateway = await openNodeGateway();
  const lastSeen = async (extended?: boolean) => {
    const { nodes } = await gateway.call('node.list', { extended });
    return nodes.map(({ lastSeenAtMs }) => lastSeenAtMs);
  };
  const token = await gateway.pair('n1');
  assert.deepEqual(await lastSeen(true), [undefined]);
  const node = await gateway.connect({ nodeId: 'n1', token });
  await gateway.reaches('n1', true);
  assert.deepEqual(await lastSeen(true), [undefined]);
  await gateway.clock.advance(5_000);
  node.socket.close();
  await gateway.reaches('n1', false);
  assert.deepEqual([await lastSeen(true), await lastSeen()], [[1_005_000], [undefined]]);
  await gateway.pair('n1');
  assert.deepEqual(await lastSeen(true), [1_005_000]);
  await gateway.restart();
  assert.deepEqual(await lastSeen(true), [1_005_000]);
});

test('a daemon that died has seen its nodes for as long as it lived, and counts that once', async () => {
  await using world = await wholeGateway();
  const lastSeen = async () => {
    const { nodes } = await world.call('node.list', { extended: true });
    return nodes.map(({ lastSeenAtMs }) => lastSeenAtMs);
  };
  const { request } = await world.call('node.pair.request', { nodeId: 'n1' });
  await world.call('node.pair.approve', { requestId: request.requestId });
  const here = build.updateTable('nodes').set({ seen_ms: 1_000_000, is_connected: 1 });
  await world.store.commit({ statements: [statementOf(here, 1)] }); // as a daemon leaves it that cannot say good-bye
  await world.store.markAlive(1_050_000);
  await world.restart();
  assert.deepEqual(await lastSeen(), [1_050_000]);
  await world.store.markAlive(1_090_000);
  await world.restart();
  assert.deepEqual(await lastSeen(), [1_050_000]);
});
