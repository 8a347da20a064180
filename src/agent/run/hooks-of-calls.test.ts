import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from './batch.ts';
import type { JournalEntry } from './journal.ts';
import { callOf, type FixtureOptions, runFixture } from './run-fixture.ts';

const CALLS = [callOf('one'), callOf('two', 'look')];
const ANSWERED: JournalEntry[] = [
  { kind: 'started' },
  { kind: 'model_called', afterSeq: 1 },
  { kind: 'model_answered', calls: CALLS },
];

/** Runs both calls, which are allowed; a hook blocks `one`. */
async function run(options: FixtureOptions = {}) {
  const asked: string[] = [];
  const fixture = runFixture({
    journal: ANSWERED,
    hooks: {
      async beforeTool({ callId }) {
        asked.push(callId);
        return callId === 'one' ? 'not today' : undefined;
      },
      afterTool: async (_call, result) => ({ ...result, output: `${result.output}, and seen` }),
    },
    ...options,
  });
  await runBatch(fixture.run);
  const results = fixture.messages.flatMap((message) =>
    message.role === 'tool' ? [[message.callId, message.outcome, message.output, message.decision]] : [],
  );
  return { ...fixture, asked, results };
}

test('a hook blocks a call that may run, with its ruling as data; the others run and are seen', async () => {
  const { results, events, journal } = await run();
  const decision = { verdict: 'block', reason: 'hook' };
  assert.deepEqual(results.toSorted(), [
    ['one', 'blocked', 'Blocked by a hook: not today', decision],
    ['two', 'done', 'two ran, and seen', undefined],
  ]);
  const shown = events.flatMap((event) => (event.type === 'tool_info' ? event.items : []));
  assert.deepEqual(
    shown.filter(({ error }) => error !== null).map(({ call_id, error, ruling }) => [call_id, error, ruling]),
    [['one', 'Blocked by a hook: not today', decision]],
  );
  assert.deepEqual(
    journal.flatMap((entry) => (entry.kind === 'tool_started' ? [entry.callId] : [])),
    ['two'],
  );
});

test('hooks are not asked about a call that rules block, so none lets it run', async () => {
  const { asked, results } = await run({ mode: 'read_only', tools: { act: { needsApproval: true } } });
  const blocked = results.flatMap(([callId, outcome, , decision]) =>
    outcome === 'blocked' ? [[callId, decision]] : [],
  );
  assert.deepEqual([asked, blocked], [['two'], [['one', { verdict: 'block', reason: 'mode' }]]]);
});

test('a call that had started before a restart has passed its hooks', async () => {
  const started: JournalEntry = { kind: 'tool_started', callId: 'one', safeToRepeat: true };
  const digests = { one: '', two: '' };
  const cleared: JournalEntry = { kind: 'batch_cleared', digests };
  const { asked } = await run({ journal: [...ANSWERED, cleared, started] });
  assert.ok(!asked.includes('one'));
});
