import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from './batch.ts';
import { callOf, runFixture } from './run-fixture.ts';

test('the card, the result and the stored message of a command without a sandbox say so', async () => {
  const calls = [callOf('one', 'bash'), callOf('two', 'look')];
  const { run, events, messages } = runFixture({
    journal: [{ kind: 'started' }, { kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls }],
  });
  run.notSandboxed = 'no bubblewrap';
  await runBatch(run);
  const told = {
    cards: events.flatMap((event) =>
      event.type === 'tool_info' ? event.items.map(({ call_id, not_sandboxed }) => [call_id, not_sandboxed]) : [],
    ),
    results: events.flatMap((event) => (event.type === 'tool_result' ? [[event.call_id, event.not_sandboxed]] : [])),
    stored: messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.notSandboxed]] : [])),
  };
  const expected = [
    ['one', 'no bubblewrap'],
    ['two', undefined],
  ];
  assert.deepEqual(told, { cards: expected, results: expected, stored: expected });
});
