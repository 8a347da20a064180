import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { ProviderError } from '../providers/model.ts';
import { StopReason } from '../stop-reason.ts';
import { RunSuperseded } from './recorder.ts';
import { runToEnd } from './run.ts';
import { answerOf, callOf, endless, has, runFixture, type Turn, until } from './run-fixture.ts';

const ONE = callOf('one');
const TWO = callOf('two');
const CANCEL = new StopReason('cancel', 'a client cancelled it', { isByUser: true });
const CANCELLED = { run_id: 'run_1', status: 'cancelled' };
const IDLE = { type: 'ws_state', ws_id: 'ws-1', state: 'idle' };
const cancelledEvents = [{ type: 'cancelled' }, { type: 'stream_end', created_ms: 1_000 }, { ...IDLE, run: CANCELLED }];

const NO_USE = { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
const refusing = (error: Error): Turn =>
  // biome-ignore lint/correctness/useYield: it fails before its first part.
  async function* () {
    throw error;
  };
const failing = (error: Error): Turn =>
  async function* () {
    yield { type: 'content', text: 'Hel' };
    throw error;
  };

test('a run calls the model until it requests no more tools, and ends with its last text', async () => {
  const fixture = runFixture({ turns: [answerOf('Let me look.', [ONE]), answerOf('Found it.')] });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual(
    fixture.events.map(({ type }) => type),
    [
      ...['thinking_start', 'ws_state', 'thinking_stop', 'content', 'stream_end', 'status'],
      ...['tool_info', 'ws_state', 'tool_result'],
      ...['thinking_start', 'ws_state', 'thinking_stop', 'content', 'stream_end', 'status'],
      'ws_state',
    ],
  );
  assert.deepEqual(fixture.steps.at(-1), {
    events: [{ ...IDLE, run: { run_id: 'run_1', status: 'ok' } }],
    messages: [],
    journal: [{ kind: 'ended', status: 'ok' }],
    ended: { run_id: 'run_1', status: 'ok', summary: 'Found it.' },
  });
  assert.deepEqual(
    fixture.requests[1]?.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  );
});

test('without a last text, the words of the last calls are the answer, but no earlier ones, and not after a content filter', async () => {
  const summaryAfter = async (...turns: Turn[]) => {
    const fixture = runFixture({ turns });
    await runToEnd(fixture.run);
    return fixture.steps.at(-1)?.ended?.summary;
  };
  const filtered: Turn = [{ type: 'finish', reason: 'content_filter', usage: NO_USE }];
  assert.equal(await summaryAfter(answerOf('Done.', [ONE]), answerOf('')), 'Done.');
  assert.equal(await summaryAfter(answerOf('I look.', [ONE]), answerOf('', [TWO]), answerOf('')), '');
  assert.equal(await summaryAfter(answerOf('I look.', [ONE]), filtered), '');
});

test('a run without an answer records why its message failed, unless it was cancelled', async () => {
  const fixture = runFixture({ turns: [refusing(new ProviderError('refused', 'Too much.'))] });
  await runToEnd(fixture.run);
  assert.deepEqual(fixture.steps.at(-1)?.ended?.failed, { code: 'refused', text: 'Too much.' });
  const filtered = runFixture({ turns: [[{ type: 'finish', reason: 'content_filter', usage: NO_USE }]] });
  await runToEnd(filtered.run);
  const { ended } = filtered.steps.at(-1) ?? {};
  assert.deepEqual([ended?.status, ended?.failed?.code], ['ok', 'content_filter']);
  const cancelled = runFixture({ turns: [[]] });
  cancelled.stop(CANCEL);
  await runToEnd(cancelled.run);
  assert.deepEqual(cancelled.steps.at(-1)?.ended, { ...CANCELLED, summary: 'cancelled' });
});

test('a provider’s failure ends the run with an error and keeps the text so far', async () => {
  const fixture = runFixture({ turns: [failing(new ProviderError('interrupted', 'The server hung up.'))] });
  assert.equal(await runToEnd(fixture.run), 'ended');
  const outcome = { run_id: 'run_1', status: 'error', error: 'The server hung up.' };
  assert.deepEqual(fixture.steps.at(-1), {
    events: [
      { type: 'error', message: 'Error: The server hung up.' },
      { type: 'stream_end', created_ms: 1_000 },
      { type: 'ws_state', ws_id: 'ws-1', state: 'error', run: outcome },
    ],
    messages: [{ role: 'assistant', content: 'Hel', toolCalls: [], partial: true }],
    journal: [{ kind: 'ended', status: 'error' }],
    ended: { ...outcome, summary: 'The server hung up.', said: 'Hel' },
  });
});

test('an unexpected failure is logged and hidden from the client', async () => {
  const fixture = runFixture({ turns: [failing(new Error('secret detail'))] });
  await runToEnd(fixture.run);
  assert.equal(fixture.steps.at(-1)?.ended?.error, 'Internal error (see the daemon’s log)');
  assert.deepEqual(fixture.log.lines, [['error', 'a run failed unexpectedly']]);
});

test('a run without an available model ends with the reason', async () => {
  const fixture = runFixture();
  fixture.run.settings = {
    ...fixture.settings,
    model: () => Promise.reject(new GatewayError('INVALID_REQUEST', 'Unknown model: x')),
  };
  await runToEnd(fixture.run);
  assert.deepEqual([fixture.steps.length, fixture.steps[0]?.ended?.error], [1, 'Unknown model: x']);
});

test('cancelled during an answer: cancelled, stream_end, ws_state in one step with the partial text', async () => {
  const fixture = runFixture({ turns: [endless] });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'content'));
  fixture.stop(CANCEL);
  assert.equal(await ended, 'ended');
  assert.deepEqual(fixture.steps.at(-1), {
    events: cancelledEvents,
    messages: [{ role: 'assistant', content: 'Hel', toolCalls: [], partial: true }],
    journal: [{ kind: 'ended', status: 'cancelled' }],
    ended: { ...CANCELLED, summary: 'cancelled', said: 'Hel' },
  });
});

test('cancelled during a question: the question is settled and every call gets a result', async () => {
  const fixture = runFixture({ turns: [answerOf('', [ONE, TWO])], tools: { act: { needsApproval: true } } });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'approve_request'));
  fixture.stop(CANCEL);
  assert.equal(await ended, 'ended');
  const result = (call_id: string) => ({
    type: 'tool_result',
    call_id,
    name: 'act',
    output: 'Cancelled by user',
    outcome: 'cancelled',
    is_error: true,
  });
  const last = fixture.steps.at(-1);
  assert.deepEqual(last?.events, [
    {
      type: 'approval_resolved',
      approval_id: 'apr_1',
      approved: false,
      feedback: 'Cancelled by user',
      by: { kind: 'cancel' },
      always: false,
      call_ids: ['one', 'two'],
    },
    result('one'),
    result('two'),
    ...cancelledEvents,
  ]);
  assert.deepEqual(last.settled, {
    approvalId: 'apr_1',
    status: 'cancelled',
    by: { kind: 'cancel' },
    feedback: 'Cancelled by user',
    always: false,
  });
  assert.deepEqual(last.journal, [
    { kind: 'tool_finished', callId: 'one' },
    { kind: 'tool_finished', callId: 'two' },
    { kind: 'ended', status: 'cancelled' },
  ]);
});

test('cancelled while tools run: every call gets a result that says whether and how it ran', async () => {
  const calls = Array.from({ length: 5 }, (_, index) => callOf(`c${index}`));
  const fixture = runFixture({
    turns: [answerOf('', calls)],
    tools: {
      act: {
        execute: (_, { id }) => {
          if (id === 'c3') fixture.stop(CANCEL);
          return { output: `${id} was stopped`, outcome: 'failed' };
        },
      },
    },
  });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual(
    fixture.messages.slice(2).map((message) => message.role === 'tool' && message.output),
    ['c0 was stopped', 'c1 was stopped', 'c2 was stopped', 'c3 was stopped', 'Cancelled by user'],
  );
  assert.deepEqual(fixture.events.slice(-3), cancelledEvents);
});

test('a tool that ignores a cancel and fails leaves an unknown outcome', async () => {
  const fixture = runFixture({
    turns: [answerOf('', [ONE])],
    tools: {
      act: {
        execute: () => {
          fixture.stop(CANCEL);
          return { output: 'never recorded', outcome: 'done' };
        },
      },
    },
    onRecord({ journal = [], ended }) {
      if (!ended && journal.some(({ kind }) => kind === 'tool_finished')) throw new Error('lost');
    },
  });
  assert.equal(await runToEnd(fixture.run), 'ended');
  assert.deepEqual(fixture.messages.at(-1), {
    role: 'tool',
    callId: 'one',
    name: 'act',
    output: 'Cancelled by user; its outcome is unknown',
    outcome: 'unknown',
  });
});

test('a run that takes too long ends as a timeout, in state error', async () => {
  const fixture = runFixture({ turns: [endless] });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'content'));
  fixture.stop(new StopReason('timeout', 'The run took longer than 5 s'));
  assert.equal(await ended, 'ended');
  const outcome = { run_id: 'run_1', status: 'timeout', error: 'The run took longer than 5 s' };
  assert.deepEqual(fixture.events.slice(-3), [
    { type: 'error', message: 'Error: The run took longer than 5 s' },
    { type: 'stream_end', created_ms: 1_000 },
    { type: 'ws_state', ws_id: 'ws-1', state: 'error', run: outcome },
  ]);
});

test('a shutdown suspends the run: a suspended turn does not count as interrupted, and a question stays pending', async () => {
  for (const [turn, written] of [
    [endless, [{ journal: [{ kind: 'suspended' }] }]],
    [answerOf('', [ONE]), []],
  ] as const) {
    const fixture = runFixture({ turns: [turn], tools: { act: { needsApproval: true } } });
    const ended = runToEnd(fixture.run);
    await until(() => has(fixture, 'content') || has(fixture, 'approve_request'));
    const before = fixture.steps.length;
    fixture.stop(new StopReason('shutdown', 'bye'));
    assert.deepEqual([await ended, fixture.steps.slice(before)], ['suspended', written]);
  }
});

test('a superseded run stops without further output', async () => {
  const fixture = runFixture({
    turns: [endless],
    onRecord(step) {
      if (step.ended) throw new RunSuperseded('taken');
    },
  });
  const ended = runToEnd(fixture.run);
  await until(() => has(fixture, 'content'));
  fixture.stop(CANCEL);
  assert.deepEqual([await ended, fixture.steps.length, fixture.log.lines], ['superseded', 1, []]);
});

test('a run superseded during its work stops too', async () => {
  const fixture = runFixture({
    turns: [answerOf('hello')],
    onRecord(step) {
      if (step.usage) throw new RunSuperseded('taken');
    },
  });
  assert.equal(await runToEnd(fixture.run), 'superseded');
});
