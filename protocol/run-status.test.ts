import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStatusOf } from './run-status.ts';

test('a run that has not ended is due, running or retrying', () => {
  const runs = [{}, { runAtMs: 1 }, { runAtMs: 1, retryAtMs: 2 }, { runAtMs: 1, status: 'ok' }] as const;
  assert.deepEqual(runs.map(runStatusOf), ['due', 'running', 'retrying', 'ok']);
});
