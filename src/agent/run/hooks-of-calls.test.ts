import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from './batch.ts';
import type { JournalEntry } from './journal.ts';
import { leftovers } from './run.ts';
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

const STARTED: JournalEntry[] = [...ANSWERED, { kind: 'tool_started', callId: 'one', safeToRepeat: false }];
const taint = { kind: 'network', target: 'a.example' } as const;
const RETURNED: JournalEntry = {
  kind: 'tool_returned',
  callId: 'one',
  returned: { result: { output: 'one ran\n[cut]', outcome: 'done', exitCode: 0, taint }, durationMs: 7 },
};

test('what a call returned is stored before hooks run after it, unless it may run again', async () => {
  let stored: JournalEntry[] = [];
  const fixture = runFixture({
    journal: ANSWERED,
    tools: { act: { safeToRepeat: false }, look: { safeToRepeat: true } },
    hooks: {
      hasAfterTool: () => true,
      async afterTool({ callId }, result) {
        if (callId === 'one') stored = fixture.journal.filter(({ kind }) => kind.startsWith('tool_'));
        return result;
      },
    },
  });
  await runBatch(fixture.run);
  const note = '[Headgate stopped while hooks ran after this call; what they would have added is missing.]';
  assert.deepEqual(
    stored.flatMap((entry) => (entry.kind === 'tool_returned' ? [[entry.callId, entry.returned.result]] : [])),
    [['one', { output: `one ran\n${note}`, outcome: 'done' }]],
  );
  assert.ok(!fixture.journal.some((entry) => entry.kind === 'tool_returned' && entry.callId === 'two'));
  const kept = fixture.messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []));
  assert.deepEqual(kept.toSorted(), ['one ran', 'two ran']);
});

test('a kill while hooks run after a call leaves its known result; nobody is asked, and it does not run again', async () => {
  const { results, journal, messages, asked } = await run({ journal: [...STARTED, RETURNED] });
  assert.deepEqual(results.toSorted(), [
    ['one', 'done', 'one ran\n[cut]', undefined],
    ['two', 'done', 'two ran, and seen', undefined],
  ]);
  assert.ok(!journal.some((entry) => entry.kind === 'tool_started' && entry.callId === 'one'));
  assert.ok(!journal.some(({ kind }) => kind === 'approval_asked'));
  assert.deepEqual(asked, ['two']);
  const [message] = messages.flatMap((each) => (each.role === 'tool' && each.callId === 'one' ? [each] : []));
  assert.deepEqual([message?.durationMs, message?.exitCode, message?.taint], [7, 0, taint]);
});

test('a run that is cancelled after such a kill keeps the known result, too', () => {
  const { run: cancelled } = runFixture({ journal: [...STARTED, RETURNED] });
  const { messages = [] } = leftovers(cancelled, { run_id: 'run-1', status: 'cancelled' });
  assert.deepEqual(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.outcome]] : [])),
    [
      ['one', 'done'],
      ['two', 'cancelled'],
    ],
  );
});
