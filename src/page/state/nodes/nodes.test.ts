import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { NodePairing, NodeRow } from '../../../../protocol/methods/node.ts';
import { createFakeClient } from '../fake-client.ts';
import { node, pairing } from './node-fixture.ts';
import { Nodes, nodeName } from './nodes.ts';

function open({ mayDecide = true } = {}) {
  const fake = createFakeClient();
  const stored = { nodes: [] as NodeRow[], pending: [] as NodePairing[] };
  fake.answer('node.list', () => ({ ts: 10_000, nodes: stored.nodes }));
  fake.answer('node.pair.list', () => ({
    pending: stored.pending,
    paired: [{ nodeId: 'n1', createdAtMs: 1, approvedAtMs: 2 }],
  }));
  const nodes = new Nodes({ client: fake.client, mayDecide: () => mayDecide, now: () => 9_000 });
  const asked = (method: string) => fake.calls.filter(([called]) => called === method).length;
  const outcomes = () => nodes.asking.value.map(({ outcome }) => outcome);
  return { ...fake, nodes, stored, asked, outcomes };
}
const settled = () => new Promise(setImmediate);

test('pairing requests are read at once, nodes only when the panel opens', async () => {
  const { nodes, stored, emit, asked } = open();
  stored.pending = [pairing()];
  emit('node.pair.requested', pairing());
  await settled();
  assert.deepEqual([nodes.waiting.value, nodes.nodes.value, asked('node.list')], [1, undefined, 0]);
  nodes.follow();
  await settled();
  assert.deepEqual([nodes.waiting.value, nodes.nodes.value], [1, []]);
});

test('without the approve scope, nodes are read but pairing requests are not', async () => {
  const { nodes, stored, emit, asked } = open({ mayDecide: false });
  stored.nodes = [node()];
  nodes.refreshLater();
  emit('tick', { ts: 1 });
  await settled();
  assert.equal(asked('node.list'), 0);
  nodes.follow();
  await settled();
  assert.deepEqual(nodes.nodes.value, [{ ...node(), approvedAtMs: undefined, leftAtMs: undefined }]);
  assert.equal(asked('node.pair.list'), 0);
});

test('a disconnected node shows when it left, by the clock of the browser', async () => {
  const { nodes, stored, emit } = open();
  const left = () => nodes.nodes.value?.map(({ connected, leftAtMs }) => [connected, leftAtMs]);
  stored.nodes = [node()];
  nodes.follow();
  await settled();
  assert.deepEqual(left(), [[true, undefined]]);
  stored.nodes = [node({ connected: false, lastSeenAtMs: 5_500 }), node({ nodeId: 'n2', connected: false })];
  emit('presence', { presence: [] });
  await settled();
  assert.deepEqual(left(), [
    [false, 4_500],
    [false, undefined],
  ]);
});

test('closing the panel stops reading nodes and drops finished requests', async () => {
  const { nodes, stored, emit, asked, outcomes } = open();
  stored.pending = [pairing()];
  const unfollow = nodes.follow();
  await settled();
  stored.pending = [];
  emit('node.pair.resolved', { requestId: 'r1', nodeId: 'n1', decision: 'rejected', ts: 1 });
  await settled();
  assert.deepEqual(outcomes(), ['rejected']);
  unfollow();
  const before = asked('node.list');
  emit('tick', { ts: 1 });
  emit('presence', { presence: [] });
  await settled();
  assert.deepEqual([outcomes(), asked('node.list') - before], [[], 0]);
});

test('a decision carries the id of its request, and its answer alone shows the outcome', async () => {
  const { nodes, answer, stored, calls, outcomes } = open();
  answer('node.pair.approve', () => ({}));
  answer('node.pair.reject', () => ({}));
  stored.pending = [pairing({ requestId: 'r2' }), pairing()];
  nodes.follow();
  await settled();
  stored.pending = [];
  assert.deepEqual([await nodes.approve('r1'), await nodes.reject('r2')], [undefined, undefined]);
  await settled();
  assert.deepEqual([outcomes(), nodes.waiting.value], [['approved', 'rejected'], 0]);
  nodes.dismiss('r1');
  assert.deepEqual(outcomes(), ['rejected']);
  const decided = calls.filter(([method]) => method === 'node.pair.approve' || method === 'node.pair.reject');
  assert.deepEqual(decided, [
    ['node.pair.approve', { requestId: 'r1' }],
    ['node.pair.reject', { requestId: 'r2' }],
  ]);
});

test('a refusal returns the message of the daemon, and the lists are read again', async () => {
  const { nodes, answer, stored, outcomes } = open();
  const refuse = (message: string) => () => {
    throw new RequestError('NOT_FOUND', message);
  };
  answer('node.pair.approve', refuse('unknown requestId'));
  answer('node.token.revoke', refuse('unknown nodeId'));
  stored.pending = [pairing()];
  nodes.follow();
  await settled();
  stored.pending = [];
  assert.equal(await nodes.approve('r1'), 'unknown requestId');
  assert.equal(await nodes.revoke('n1'), 'unknown nodeId');
  await settled();
  assert.deepEqual(outcomes(), ['expired']);
});

test('a node can be renamed, but not to an empty name', async () => {
  const { nodes, answer, calls } = open();
  answer('node.rename', () => ({}));
  assert.deepEqual(
    [await nodes.rename('n1', 'cellar'), await nodes.rename('n1', '')],
    [undefined, 'A node needs a name.'],
  );
  assert.deepEqual(
    calls.filter(([method]) => method === 'node.rename'),
    [['node.rename', { nodeId: 'n1', displayName: 'cellar' }]],
  );
});

test('a failed read shows the reason and keeps the old list', async () => {
  const { nodes, answer, stored } = open();
  stored.nodes = [node()];
  nodes.follow();
  await settled();
  answer('node.list', () => {
    throw new RequestError('UNAVAILABLE', 'try later');
  });
  nodes.refreshLater();
  await settled();
  assert.deepEqual([nodes.nodes.value?.length, nodes.reading.problem.value], [1, 'try later']);
});

test('a node without a name is shown by its id', () => {
  const names = ['attic', undefined, ' \u3000'].map((displayName) => nodeName(node({ displayName })));
  assert.deepEqual(names, ['attic', 'n1', 'n1']);
});
