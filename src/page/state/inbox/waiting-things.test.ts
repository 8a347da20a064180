import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { createFakeClient } from '../fake-client.ts';
import { Nodes } from '../nodes/nodes.ts';
import { toEntries } from './inbox-panel.ts';
import { OtherCount } from './other-count.ts';
import { WaitingThings } from './waiting-things.ts';

const MEMORY = {
  ...{ memoryId: 'mem_1', name: 'harbour', description: '', type: 'project', scope: 'workstream', scopeId: 'w1' },
  ...{ content: 'kestrel', createdAtMs: 30, taint: { kind: 'network' } },
};
const PERSON = { channel: 'telegram', senderId: '7', name: 'Eve', status: 'pending', blocked: 0, updatedAtMs: 10 };
const MACHINE = { requestId: 'r1', nodeId: 'box', ts: 20, isRepair: false };

async function opened({ rights = true, content = 'kestrel' } = {}) {
  const { client, answer, calls } = createFakeClient();
  answer('memory.quarantine.list', () => ({ memories: [{ ...MEMORY, content }], total: 1 }));
  answer('channel.sender.list', () => ({ senders: [PERSON, { ...PERSON, senderId: '8', status: 'approved' }] }));
  answer('mcp.consent.pending', () => ({ pending: [{ server: 'notes', code: '', scopes: [], url: '', sinceMs: 40 }] }));
  answer('node.list', () => ({ ts: 1, nodes: [] }));
  answer('node.pair.list', () => ({ ts: 20, pending: [MACHINE], paired: [] }));
  const nodes = new Nodes({ client, mayDecide: () => true, now: () => 20 });
  nodes.refreshLater();
  await new Promise(setImmediate);
  const held = signal(rights);
  const things = new WaitingThings(
    {
      client,
      nodes,
      others: new OtherCount({ client, rights: { decide: held, releaseMemories: held, manageChannels: held } }),
    },
    { releaseMemories: held, manageChannels: held, changeNodes: held },
  );
  await things.read();
  return { things, answer, calls };
}

test('machines, people, accounts and memories wait together, the oldest first, each with its place', async () => {
  const { things } = await opened();
  assert.deepEqual(
    toEntries([], things.all.value, undefined).map((entry) =>
      'thing' in entry ? [entry.key, entry.thing.place, entry.thing.accept?.label, entry.thing.refuse?.label] : [],
    ),
    [
      ['person telegram 7', 'channels', undefined, undefined],
      ['machine box', 'nodes', undefined, 'Reject'],
      ['memory mem_1', 'agent', 'Release', 'Discard'],
      ['account notes', 'agent', undefined, 'Dismiss'],
    ],
  );
  assert.ok(
    !toEntries([], things.all.value, 'machine box').some(({ key }) => key === 'machine box'),
    'it is decided now',
  );
});

test('nothing is read that the person may not decide, except for accounts of their own', async () => {
  const { things, calls } = await opened({ rights: false });
  assert.deepEqual(
    things.all.value.map(({ key }) => key),
    ['account notes'],
  );
  assert.ok(!calls.some(([method]) => method === 'channel.sender.list' || method === 'memory.quarantine.list'));
});

test('a decision is followed by another reading, and a refusal is returned', async () => {
  const { things, answer, calls } = await opened();
  const memory = things.all.value.find(({ key }) => key === 'memory mem_1');
  answer('memory.quarantine.release', () => ({ memory: MEMORY, created: true }));
  answer('memory.quarantine.list', () => ({ memories: [], total: 0 }));
  assert.equal(await memory?.accept?.act(), undefined);
  assert.ok(calls.some(([method]) => method === 'memory.quarantine.release'));
  assert.ok(!things.all.value.some(({ key }) => key === 'memory mem_1'));
  assert.equal(await memory?.refuse?.act(), 'no answer to memory.quarantine.discard');
});

test('a long memory is not released where only its beginning is shown', async () => {
  const { things } = await opened({ content: 'x'.repeat(601) });
  const memory = things.all.value.find(({ key }) => key === 'memory mem_1');
  assert.deepEqual([memory?.accept, memory?.detail.endsWith('x…')], [undefined, true]);
});
