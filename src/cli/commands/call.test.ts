import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patienceMs } from './call.ts';

test('a call may take as long as its params ask the daemon to wait, and a little longer', () => {
  assert.deepEqual(
    [
      patienceMs('agent.wait', { runId: 'r', timeoutMs: 600_000 }),
      patienceMs('agent.wait', { runId: 'r', timeoutMs: 'no number' }),
      patienceMs('health', undefined),
      patienceMs('agent', { message: 'hello' }),
    ],
    [610_000, 40_000, 40_000, undefined],
  );
});
