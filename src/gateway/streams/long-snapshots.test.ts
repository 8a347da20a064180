import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { streamingGateway } from './stream-fixture.ts';

test('a turn that is too long for a snapshot is read from the log', async () => {
  await using it = await streamingGateway();
  const pieces = Array.from({ length: 9 }, () => 'x'.repeat(1024 * 1024));
  it.gateway.puppet.turn(...pieces, calling('touch'));
  await it.send();
  await it.gateway.reaches(it.wsId, 'approve_request');
  const reader = await it.open({ snapshot: true });
  await reader.begun;
  await new Promise(setImmediate);
  assert.deepEqual(
    [reader.types().includes('in_progress_snapshot'), reader.types().includes('content')],
    [false, true],
  );
  await reader.leave();
});
