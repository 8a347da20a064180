import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';
import type { ClusterMember } from './cluster.ts';
import { pageOfNodes, pageOfWorkstreams, toOverview, toSnapshot } from './views.ts';

const one = (nodeId: string, change: Partial<ClusterWorkstream>): ClusterWorkstream => ({
  ...{ wsId: 'w', name: 'ws-1', state: 'idle', nodeId, title: '', tokens: 0, contextRatio: 0 },
  ...{ activity: '', activityState: '', toolCalls: 0 },
  ...change,
});

function member(nodeId: string, version: string, workstreams: ClusterWorkstream[]): ClusterMember {
  const counts = { total: workstreams.length, idle: 0, thinking: 0, running: 0, attention: 0, error: 0 };
  for (const { state } of workstreams) counts[state] += 1;
  const totalTokens = workstreams.reduce((sum, { tokens }) => sum + tokens, 0);
  const backend = { status: 'up', circuitState: 'closed' } as const;
  const about = { state: 'active', startedMs: 0, reachable: true, health: { status: 'ok', backend }, version } as const;
  const node = { nodeId, serverUrl: `http://${nodeId}`, workstreams: counts, totalTokens, ...about, labels: [] };
  return { node, workstreams };
}

// Two that serve, although only one does now: the views must not depend on their number.
const MEMBERS = [
  member('b', '1.0', [
    one('b', { wsId: '1', name: 'Ada', state: 'thinking', tokens: 5, toolCalls: 2 }),
    one('b', { wsId: '2', name: 'bob', state: 'attention', title: 'Öl und Wasser' }),
  ]),
  member('a', '1.1', [one('a', { wsId: '3', name: 'cid', state: 'error', tokens: 9, toolCalls: 1 })]),
];

test('the overview counts all machines', () => {
  assert.deepEqual(toOverview(MEMBERS), {
    ...{ nodes: 2, workstreams: 3, totalTokens: 14, totalToolCalls: 3, versionDrift: true, versions: ['1.0', '1.1'] },
    states: { running: 0, thinking: 1, attention: 1, idle: 0, error: 1 },
  });
  const none = { running: 0, thinking: 0, attention: 0, idle: 0, error: 0 };
  const empty = { nodes: 0, workstreams: 0, states: none, totalTokens: 0, totalToolCalls: 0 };
  assert.deepEqual(toOverview([]), { ...empty, versionDrift: false, versions: [] });
  const { nodes, workstreams, atMs } = toSnapshot(MEMBERS, 7);
  assert.deepEqual([nodes.length, workstreams.length, atMs], [2, 3, 7]);
});

test('a machine that is lost counts, but its version does not', () => {
  const [serving] = MEMBERS;
  const lost = member('c', '0.9', []);
  const gone: ClusterMember = { ...lost, node: { ...lost.node, state: 'lost', reachable: false, health: null } };
  const { nodes, versions, versionDrift } = toOverview(serving ? [serving, gone] : []);
  assert.deepEqual([nodes, versions, versionDrift], [2, ['1.0'], false]);
});

test('machines are sorted and cut', () => {
  const ids = (query: Parameters<typeof pageOfNodes>[1]) =>
    pageOfNodes(MEMBERS, query).nodes.map(({ nodeId }) => nodeId);
  assert.deepEqual(
    [ids({}), ids({ sort: 'activity' }), ids({ sort: 'tokens' })],
    [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ],
  );
  assert.deepEqual([ids({ limit: 1 }), ids({ offset: 1 }), ids({ offset: 9 })], [['a'], ['b'], []]);
  assert.equal(pageOfNodes(MEMBERS, { offset: 9 }).total, 2);
});

test('workstreams are filtered, sorted and cut into pages', () => {
  const ids = (query: Parameters<typeof pageOfWorkstreams>[1]) =>
    pageOfWorkstreams(MEMBERS, query)
      .workstreams.map(({ wsId }) => wsId)
      .join('');
  assert.deepEqual([ids({}), ids({ sort: 'tokens' }), ids({ sort: 'name' })], ['231', '312', '123']);
  assert.deepEqual([ids({ state: 'error' }), ids({ nodeId: 'b' }), ids({ nodeId: 'x' })], ['3', '21', '']);
  assert.deepEqual(
    [ids({ search: 'aDA' }), ids({ search: 'öl' }), ids({ search: '3' }), ids({ search: '.*' })],
    ['1', '2', '3', ''],
  );
  const { workstreams, ...page } = pageOfWorkstreams(MEMBERS, { perPage: 2, page: 2 });
  assert.deepEqual([workstreams.map(({ wsId }) => wsId), page], [['1'], { total: 3, page: 2, perPage: 2, pages: 2 }]);
  assert.deepEqual([ids({ page: 3, perPage: 2 }), pageOfWorkstreams([], {}).pages], ['', 0]);
});
