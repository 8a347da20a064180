import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBusy } from './is-busy.ts';
import { WorkstreamState } from './stream-events.ts';

test('a workstream is busy until its run has ended, even while an approval is pending', () => {
  assert.deepEqual(WorkstreamState.options.filter(isBusy), ['thinking', 'running', 'attention']);
});
