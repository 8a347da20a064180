import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

const unknown = { code: 'NOT_FOUND', message: 'Unknown workstream' };
const taken = { code: 'CONFLICT', message: 'That name is already used by another workstream' };

test('of two renames to the same name at the same time, one gets CONFLICT', async () => {
  await using gateway = await wholeGateway();
  const first = await gateway.main();
  const { wsId: second } = await gateway.call('workstream.create', {});
  const [renamed, refused] = await Promise.all([
    gateway.call('workstream.update', { wsId: first, name: 'desk' }),
    gateway.refusal('workstream.update', { wsId: second, name: 'desk' }),
  ]);
  assert.deepEqual([renamed.name, refused], ['desk', taken]);
});

test('a change of a workstream whose row is gone gets NOT_FOUND, whatever it changes', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const sql = 'delete from workstreams where ws_id = ?';
  await gateway.store.commit({ statements: [{ sql, parameters: [wsId], expect: 1 }] });
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, model: 'other' }), unknown);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, name: 'desk' }), unknown);
});
