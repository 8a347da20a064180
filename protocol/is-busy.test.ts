import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBusy } from './is-busy.ts';
import { WorkstreamState } from './stream-events.ts';

test('a workstream is busy until its run has ended, also while a person is asked', () => {
  assert.deepEqual(WorkstreamState.options.filter(isBusy), ['thinking', 'running', 'attention']);
});
