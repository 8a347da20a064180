import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import { StopReason } from '../stop-reason.ts';
import { runBatch } from './batch.ts';
import { callOf, digestOf, type FixtureOptions, runFixture } from './run-fixture.ts';

const ONE = callOf('one');
const TWO = callOf('two', 'look');

/** A run whose model has just requested these calls. */
const fixtureOf = (calls = [ONE], options: FixtureOptions = {}) =>
  runFixture({
    journal: [{ kind: 'started' }, { kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls }],
    ...options,
  });
const itemOf = (call = ONE, more: object = {}) => ({
  call_id: call.id,
  header: `${call.name}: ${call.id}`,
  subject: call.id,
  preview: '',
  func_name: call.name,
  approval_label: call.name,
  needs_approval: false,
  error: null,
  ...more,
});
const resultOf = (call = ONE, output = `${call.id} ran`, outcome: CallOutcome = 'done') => ({
  type: 'tool_result',
  call_id: call.id,
  name: call.name,
  output,
  outcome,
  is_error: outcome !== 'done',
});
/** The duration of a call on a stopped clock. */
const ranOf = (...result: Parameters<typeof resultOf>) => ({ ...resultOf(...result), duration_ms: 0 });
const messageOf = (call = ONE, output = `${call.id} ran`, outcome: CallOutcome = 'done') => ({
  role: 'tool',
  callId: call.id,
  name: call.name,
  output,
  outcome,
});
const keptOf = (...result: Parameters<typeof messageOf>) => ({ ...messageOf(...result), durationMs: 0 });
const RUNNING = { type: 'ws_state', ws_id: 'ws-1', state: 'running' };
const ASKED = {
  needs_approval: true,
  ruling: { verdict: 'ask', reason: 'tool' },
  rules: [{ id: 'tool', kind: 'tool', match: { tool: 'act' }, terms: ['hour', 'conversation', 'always'] }],
};
const ASKS = { act: { needsApproval: true } };

test('calls without approval are shown as tool_info and run', async () => {
  const fixture = fixtureOf([ONE, TWO]);
  await runBatch(fixture.run);
  assert.deepEqual(fixture.events, [
    { type: 'tool_info', items: [itemOf(), itemOf(TWO)] },
    RUNNING,
    ranOf(),
    ranOf(TWO),
  ]);
  assert.deepEqual(fixture.messages.slice(1), [keptOf(), keptOf(TWO)]);
  assert.deepEqual(fixture.journal[0], {
    kind: 'batch_cleared',
    digests: { one: digestOf(ONE), two: digestOf(TWO) },
  });
});

test('a batch of refused calls asks no questions and tells the model why', async () => {
  const fixture = fixtureOf([ONE], { tools: { act: { needsApproval: true, refuses: 'Unknown tool: act' } } });
  await runBatch(fixture.run);
  assert.deepEqual(fixture.events, [
    { type: 'tool_info', items: [itemOf(ONE, { error: 'Unknown tool: act' })] },
    RUNNING,
    resultOf(ONE, 'Unknown tool: act', 'failed'),
  ]);
});

test('one call that needs approval makes the whole batch one question, and one answer decides it', async () => {
  const bad = callOf('bad', 'broken');
  const fixture = fixtureOf([ONE, TWO, bad], { tools: { ...ASKS, broken: { refuses: 'no such tool' } } });
  const done = runBatch(fixture.run);
  await fixture.answer();
  await done;
  const items = [itemOf(ONE, ASKED), itemOf(TWO), itemOf(bad, { error: 'no such tool' })];
  const digests = { one: digestOf(ONE), two: digestOf(TWO), bad: digestOf(bad) };
  const expiresAtMs = 61_000;
  assert.deepEqual(fixture.steps[0], {
    events: [
      { type: 'approve_request', items, approval_id: 'apr_1', kind: 'tools', expires_at_ms: expiresAtMs },
      { type: 'ws_state', ws_id: 'ws-1', state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId: 'apr_1', question: 'tools', digests }],
    approval: { approvalId: 'apr_1', kind: 'tools', items, digests, expiresAtMs },
  });
  assert.deepEqual(fixture.messages.slice(1), [messageOf(bad, 'no such tool', 'failed'), keptOf(), keptOf(TWO)]);
});

for (const [title, decision, output, outcome] of [
  ['a denied batch does not run', { approved: false }, 'Denied by user', 'denied'],
  [
    'feedback with a denial reaches the model',
    { approved: false, feedback: 'not now' },
    'Denied by user: not now',
    'denied',
  ],
  [
    'an unanswered question is denied with the timeout as reason',
    { approved: false, feedback: 'Approval timed out after 1 hour', by: { kind: 'timeout' } },
    'Approval timed out after 1 hour',
    'expired',
  ],
] as const) {
  test(title, async () => {
    const bad = callOf('bad', 'broken');
    const fixture = fixtureOf([ONE, TWO, bad], { tools: { ...ASKS, broken: { refuses: 'no such tool' } } });
    const done = runBatch(fixture.run);
    await fixture.answer(decision);
    await done;
    assert.deepEqual(fixture.messages.slice(1), [
      messageOf(ONE, output, outcome),
      messageOf(TWO, output, outcome),
      messageOf(bad, 'no such tool', 'failed'),
    ]);
    assert.deepEqual(
      fixture.journal.slice(1).map(({ kind }) => kind),
      ['tool_finished', 'tool_finished', 'tool_finished'],
    );
  });
}

test('feedback with an approval becomes the next user message, after the results', async () => {
  const fixture = fixtureOf([ONE, TWO], { tools: ASKS });
  const done = runBatch(fixture.run);
  await fixture.answer({ feedback: 'be quick' });
  await done;
  assert.deepEqual(fixture.messages.slice(1), [
    keptOf(),
    keptOf(TWO),
    { role: 'user', content: 'be quick', trusted: true, feedback: true },
  ]);
  assert.deepEqual(fixture.events.at(-1), {
    type: 'user_turn',
    message: 'be quick',
    run_id: 'run_1',
    source: 'person',
    seq: 4,
    created_ms: 1_000,
  });
});

test('auto-approve asks no questions', async () => {
  const fixture = fixtureOf([ONE], { tools: ASKS, autoApprove: true });
  await runBatch(fixture.run);
  assert.deepEqual(fixture.events, [
    {
      type: 'tool_info',
      items: [
        itemOf(ONE, {
          ...{ needs_approval: true, auto_approved: true, auto_approve_reason: 'blanket' },
          ruling: { verdict: 'run', reason: 'blanket' },
        }),
      ],
    },
    RUNNING,
    ranOf(),
  ]);
});

test('the start of a tool is stored before it runs, unless the tool is read-only', async () => {
  const order: string[] = [];
  const execute = (_: unknown, { id }: { id: string }) => {
    order.push(`${id} runs`);
    return { output: '', outcome: 'done' as const };
  };
  const fixture = fixtureOf([ONE, TWO], {
    tools: { act: { execute }, look: { readOnly: true, safeToRepeat: true, execute } },
    onRecord({ journal = [], durable }) {
      for (const entry of journal)
        if ('callId' in entry) order.push(`${entry.callId} ${entry.kind} ${durable ?? false}`);
    },
  });
  await runBatch(fixture.run);
  assert.deepEqual(
    order.filter((line) => line.startsWith('one')),
    ['one tool_started true', 'one runs', 'one tool_finished false'],
  );
  assert.deepEqual(
    order.filter((line) => line.startsWith('two')),
    ['two tool_started false', 'two runs', 'two tool_finished false'],
  );
  const started = fixture.journal.filter(({ kind }) => kind === 'tool_started');
  assert.deepEqual(started, [
    { kind: 'tool_started', callId: 'one', safeToRepeat: false },
    { kind: 'tool_started', callId: 'two', safeToRepeat: true },
  ]);
});

test('live output and the process are reported while a tool runs', async () => {
  const process = { pid: 7, startTicks: 9 };
  const fixture = fixtureOf([ONE], {
    tools: {
      act: {
        async execute(run) {
          run.onOutput('line\n');
          await run.onProcess(process);
          return { output: 'line', outcome: 'done', files: { '/work/a': 'hash' } };
        },
      },
    },
  });
  await runBatch(fixture.run);
  assert.deepEqual(fixture.events.slice(2), [
    { type: 'tool_output_chunk', call_id: 'one', chunk: 'line\n' },
    ranOf(ONE, 'line'),
  ]);
  assert.deepEqual(fixture.steps.at(-2), {
    journal: [{ kind: 'tool_process', callId: 'one', process }],
    durable: true,
  });
  assert.deepEqual(fixture.messages.at(-1), { ...keptOf(ONE, 'line'), files: { '/work/a': 'hash' } });
});

test('at most four tools run at once', async () => {
  let running = 0;
  let most = 0;
  const execute = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    running -= 1;
    return { output: '', outcome: 'done' as const };
  };
  const calls = Array.from({ length: 10 }, (_, index) => callOf(`c${index}`, 'act', `{"n":${index}}`));
  const fixture = fixtureOf(calls, { tools: { act: { execute } } });
  await runBatch(fixture.run);
  assert.deepEqual([most, running, fixture.messages.length], [4, 0, 11]);
});

test('an exception in a tool becomes an error for the model, and is logged', async () => {
  const fixture = fixtureOf([ONE, TWO], {
    tools: {
      act: {
        execute: () => {
          throw new Error('boom');
        },
      },
    },
  });
  await runBatch(fixture.run);
  assert.deepEqual(
    fixture.messages.slice(1).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [keptOf(ONE, 'Error: boom', 'failed'), keptOf(TWO)],
  );
  assert.deepEqual(fixture.log.lines, [['warn', 'tool failed unexpectedly']]);
});

test('no further call starts once a step cannot be recorded', async () => {
  const started: string[] = [];
  const calls = Array.from({ length: 9 }, (_, index) => callOf(`c${index}`, 'act', `{"n":${index}}`));
  const fixture = fixtureOf(calls, {
    tools: { act: { execute: (_, { id }) => ({ output: `${started.push(id)}`, outcome: 'done' }) } },
    onRecord({ journal = [] }) {
      if (journal.some((entry) => entry.kind === 'tool_finished')) throw new Error('disk');
    },
  });
  await assert.rejects(runBatch(fixture.run), { message: 'disk' });
  assert.deepEqual(started, ['c0', 'c1', 'c2', 'c3']);
});

test('a stop during a question ends the batch without a result', async () => {
  const fixture = fixtureOf([ONE], { tools: ASKS });
  const done = runBatch(fixture.run);
  while (fixture.events.length < 2) await new Promise(setImmediate);
  const stop = new StopReason('cancel', 'Cancelled by user');
  fixture.stop(stop);
  await assert.rejects(done, stop);
  assert.equal(fixture.messages.length, 1);
});

test('a stop while tools run records how they ended and starts no others', async () => {
  const stop = new StopReason('cancel', 'Cancelled by user');
  const calls = Array.from({ length: 6 }, (_, index) => callOf(`c${index}`));
  const fixture = fixtureOf(calls, {
    tools: {
      act: {
        execute(_, { id }) {
          if (id === 'c3') fixture.stop(stop);
          return { output: `${id} stopped`, outcome: 'failed' };
        },
      },
    },
  });
  await assert.rejects(runBatch(fixture.run), stop);
  assert.deepEqual(
    fixture.messages.slice(1).map((message) => message.role === 'tool' && message.output),
    ['c0 stopped', 'c1 stopped', 'c2 stopped', 'c3 stopped'],
  );
});
