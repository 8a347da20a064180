import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GlobalEvent } from '../../../protocol/events/global.ts';
import { type Change, createLatest } from './latest.ts';

const activity: GlobalEvent = { type: 'ws_activity', ws_id: 'a', activity: 'bash: ls', activity_state: 'tool' };
const state: GlobalEvent = { ...activity, type: 'ws_state', state: 'running', tokens: 1, context_ratio: 0 };
const created: GlobalEvent = { type: 'ws_created', ws_id: 'a', name: 'one' };
const closed: GlobalEvent = { type: 'ws_closed', ws_id: 'a', name: 'one', reason: 'closed' };
const renamed: GlobalEvent = { type: 'ws_rename', ws_id: 'a', name: 'uno' };

function left(...events: Change[]): string[] {
  const waiting = createLatest();
  for (const event of events) waiting.put(event);
  const types = waiting.takeAll().map(({ type }) => type);
  assert.deepEqual([waiting.size(), waiting.takeAll()], [0, []]);
  return types;
}

test('of each workstream the latest event of each kind is kept, in order', () => {
  assert.deepEqual(left(state, activity, renamed, activity), ['ws_state', 'ws_rename', 'ws_activity']);
  assert.deepEqual(left(activity, state, { ...state, ws_id: 'b' }), ['ws_state', 'ws_state']);
});

test('a closing replaces what happened before, and a workstream that comes back replaces its closing', () => {
  assert.deepEqual(left(created, state, activity, renamed, closed), ['ws_closed']);
  assert.deepEqual(left(closed, created, state), ['ws_created', 'ws_state']);
});

test('of each machine, only whether it is there now is kept', () => {
  const joined = { type: 'node_joined', node_id: 'a' } as const;
  const lost = { type: 'node_lost', node_id: 'a' } as const;
  assert.deepEqual(left(joined, lost, { ...joined, node_id: 'b' }), ['node_lost', 'node_joined']);
  assert.deepEqual(left(lost, joined), ['node_joined']);
});

test('the latest health is kept, apart from the workstreams', () => {
  const health: GlobalEvent = {
    ...{ type: 'health_changed', status: 'ok' },
    backend: { status: 'up', circuit_state: 'closed' },
  };
  assert.deepEqual(left(health, closed, state, health), ['ws_closed', 'ws_state', 'health_changed']);
});

test('only what replaces something counts as coalesced', () => {
  const waiting = createLatest();
  assert.deepEqual(
    [state, activity, state, renamed].map((event) => waiting.put(event)),
    [false, false, true, false],
  );
});
