import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Approvers, type WatchedLogs } from './approvers.ts';

test('a log is watched while at least one approver reads it here or elsewhere, and changes here are told', () => {
  const approvers = new Approvers();
  const told: WatchedLogs[] = [];
  approvers.onTold((logs) => void told.push(logs));
  approvers.enter('a');
  approvers.enter('a');
  approvers.leave('a');
  approvers.retell({ begun: ['a', 'b'], ended: [] });
  assert.deepEqual([approvers.has('a'), approvers.has('b'), approvers.watched()], [true, true, ['a']]);
  approvers.leave('a');
  approvers.leave('a');
  assert.deepEqual([approvers.has('a'), approvers.watched()], [true, []]);
  approvers.retell({ begun: [], ended: ['a'] });
  approvers.forget();
  assert.deepEqual([approvers.has('a'), approvers.has('b')], [false, false]);
  assert.deepEqual(told, [
    { begun: ['a'], ended: [] },
    { begun: [], ended: ['a'] },
  ]);
});
