import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNodeGateway } from '../testing/node-gateway.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { openLastSeen } from './last-seen.ts';

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

test('a worker that starts leaves the nodes connected', async () => {
  await using gateway = await openNodeGateway();
  await gateway.join('n1');
  const presence = () => gateway.store.db.selectFrom('nodes').select(['seen_ms', 'is_connected']).execute();
  const connected = { seen_ms: 1_000_000, is_connected: 1 };
  await turnsUntil(async () => (await presence())[0]?.is_connected === 1, 'the connection is stored');
  const { store, clock, log } = gateway;
  const stored: unknown[] = [];
  const commit: typeof store.commit = (unit) => {
    stored.push(unit);
    return store.commit(unit);
  };
  const opening = { lastAliveMs: 1_090_000, clock, log };
  const lastSeen = await openLastSeen({ store: { ...store, commit, machine: 'w' }, ...opening });
  assert.deepEqual([lastSeen.find('n1'), stored, await presence()], [connected.seen_ms, [], [connected]]);
  await openLastSeen({ store: { ...store, commit }, ...opening });
  assert.equal(stored.length, 1, 'the next active daemon stores that the former has died');
});
