import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelPart } from '../providers/model.ts';
import { ProviderError } from '../providers/model.ts';
import { StopReason } from '../stop-reason.ts';
import { generate, statusOf } from './generate.ts';
import { answerOf, callOf, runFixture, USAGE } from './run-fixture.ts';

const START = [{ type: 'thinking_start' }, { type: 'ws_state', ws_id: 'ws-1', state: 'thinking' }];
const STATUS = {
  type: 'status',
  prompt_tokens: 90,
  completion_tokens: 10,
  total_tokens: 100,
  context_window: 1_000,
  pct: 10,
  effort: 'medium',
  cache_creation_tokens: 3,
  cache_read_tokens: 4,
};
/** What such an answer takes; the scripted model has no price. */
const spent = {
  model: 'test/scripted',
  input_tokens: 90,
  cache_read_tokens: 4,
  cache_write_tokens: 3,
  output_tokens: 10,
  duration_ms: 0,
};
const finish = (reason: 'stop' | 'length' | 'content_filter'): ModelPart => ({ type: 'finish', reason, usage: USAGE });

/** Calls that nobody has to be asked about are cleared with the answer. */
const CLEARED = ['tool_info', 'ws_state'];

test('a turn is thinking_start, thinking_stop at the first delta, deltas, stream_end, status', async () => {
  const fixture = runFixture({
    turns: [[{ type: 'reasoning', text: 'hm' }, { type: 'content', text: 'Hel' }, ...answerOf('lo', [callOf('one')])]],
  });
  const generated = await generate(fixture.run);
  assert.equal(generated.kind === 'answered' && generated.text, 'Hello');
  assert.deepEqual(fixture.events.slice(0, -CLEARED.length), [
    ...START,
    { type: 'thinking_stop' },
    { type: 'reasoning', text: 'hm' },
    { type: 'content', text: 'Hel' },
    { type: 'content', text: 'lo' },
    { type: 'stream_end', created_ms: 1_000, spent },
    { ...STATUS, tool_calls_this_turn: 1, turn_count: 1 },
  ]);
  assert.deepEqual(fixture.messages.at(-1), {
    role: 'assistant',
    content: 'Hello',
    reasoning: 'hm',
    toolCalls: [callOf('one')],
    spent,
  });
  assert.deepEqual(
    fixture.events.slice(-CLEARED.length).map(({ type }) => type),
    CLEARED,
  );
  assert.deepEqual(
    fixture.journal.map(({ kind }) => kind),
    ['model_called', 'model_answered', 'batch_cleared'],
  );
  assert.deepEqual(fixture.journal[1], { kind: 'model_answered', calls: [callOf('one')] });
});

test('a turn is recorded before the model is called', async () => {
  const fixture = runFixture({
    turns: [
      async function* () {
        assert.deepEqual(fixture.journal, [{ kind: 'model_called', afterSeq: 1 }]);
        yield* answerOf('yes');
      },
    ],
  });
  assert.equal((await generate(fixture.run)).kind, 'answered');
});

test('an answer cut off in its calls keeps them, marked as cut', async () => {
  const fixture = runFixture({
    turns: [[{ type: 'content', text: 'so' }, { type: 'tool_call', call: callOf('one') }, finish('length')]],
  });
  assert.deepEqual(await generate(fixture.run), { kind: 'answered', text: 'so' });
  assert.deepEqual(fixture.messages.at(-1), {
    role: 'assistant',
    content: 'so',
    toolCalls: [callOf('one')],
    partial: true,
    spent,
  });
  assert.deepEqual(fixture.journal.at(-1), { kind: 'model_answered', calls: [callOf('one')], cut: 'once' });
});

test('a text cut off at the output limit is continued as one answer', async () => {
  const fixture = runFixture({
    turns: [
      [{ type: 'reasoning', text: 'hm' }, { type: 'content', text: 'Once upon' }, finish('length')],
      [{ type: 'reasoning', text: ', yes' }, { type: 'content', text: ' a time.' }, finish('stop')],
    ],
  });
  assert.deepEqual(await generate(fixture.run), { kind: 'answered', text: 'Once upon a time.' });
  const cutPart = { contentChars: 9, reasoningChars: 2 };
  assert.deepEqual(fixture.requests[1]?.messages, [
    ...(fixture.requests[0]?.messages ?? []),
    { role: 'assistant', content: 'Once upon', reasoning: 'hm', toolCalls: [], cutPart },
  ]);
  const both = { ...spent, input_tokens: 180, cache_read_tokens: 8, cache_write_tokens: 6, output_tokens: 20 };
  assert.deepEqual(fixture.messages.slice(1), [
    { role: 'assistant', content: 'Once upon a time.', reasoning: 'hm, yes', toolCalls: [], cutPart, spent: both },
  ]);
  assert.deepEqual(
    fixture.events.map(({ type }) => type),
    [
      'thinking_start',
      'ws_state',
      'thinking_stop',
      'reasoning',
      'content',
      'reasoning',
      'content',
      'stream_end',
      'status',
    ],
  );
  const twice = {
    promptTokens: 180,
    completionTokens: 20,
    cacheCreationTokens: 6,
    cacheReadTokens: 8,
    reasoningTokens: 0,
  };
  assert.deepEqual(fixture.steps.at(-1)?.usage, {
    usage: USAGE,
    contextWindow: 1_000,
    afterSeq: 2,
    spent: twice,
    model: { provider: 'test', modelId: 'scripted' },
  });
  assert.deepEqual(fixture.journal.at(-1), { kind: 'model_answered', calls: [] });
});

for (const [title, second] of [
  ['the continuation is cut, too', [{ type: 'content', text: ' a' }, finish('length')]],
  ['the continuation has no text', [finish('stop')]],
] as const) {
  test(`an answer is cut for good if ${title}`, async () => {
    const fixture = runFixture({ turns: [[{ type: 'content', text: 'Once upon' }, finish('length')], [...second]] });
    await generate(fixture.run);
    const stored = fixture.messages.at(-1);
    assert.deepEqual(
      [fixture.requests.length, stored?.role === 'assistant' && stored.partial, fixture.journal.at(-1)],
      [2, true, { kind: 'model_answered', calls: [], cut: 'again' }],
    );
  });
}

test('a continuation that the provider refuses leaves the text as it is', async () => {
  const fixture = runFixture({
    turns: [
      [{ type: 'content', text: 'Once upon' }, finish('length')],
      // biome-ignore lint/correctness/useYield: it fails before its first part.
      async function* () {
        throw new ProviderError('refused', 'the context is full');
      },
    ],
  });
  assert.deepEqual(await generate(fixture.run), { kind: 'answered', text: 'Once upon' });
  assert.deepEqual(fixture.messages.at(-1), {
    role: 'assistant',
    content: 'Once upon',
    toolCalls: [],
    partial: true,
    spent,
  });
  assert.deepEqual(fixture.log.lines, [['warn', 'an answer that was cut off could not be continued']]);
});

test('reasoning alone cannot be continued', async () => {
  const fixture = runFixture({ turns: [[{ type: 'reasoning', text: 'hm' }, finish('length')]] });
  await generate(fixture.run);
  assert.deepEqual(
    [fixture.requests.length, fixture.journal.at(-1)],
    [1, { kind: 'model_answered', calls: [], cut: 'once' }],
  );
});

test('an answer ended by a content filter is kept, with a warning', async () => {
  const fixture = runFixture({ turns: [[{ type: 'content', text: 'so' }, finish('content_filter')]] });
  await generate(fixture.run);
  assert.deepEqual(fixture.messages.at(-1), { role: 'assistant', content: 'so', toolCalls: [], spent });
  assert.deepEqual(fixture.events.at(-1), {
    type: 'error',
    message: 'Warning: the provider’s content filter ended the answer.',
  });
});

test('an answer removed by a content filter is distinguished from an empty one', async () => {
  const fixture = runFixture({ turns: [[finish('content_filter')]] });
  assert.deepEqual(await generate(fixture.run), { kind: 'answered', text: '', isBlocked: true });
});

test('an empty answer still sends thinking_stop and stream_end', async () => {
  const fixture = runFixture({ turns: [[finish('stop')]] });
  assert.deepEqual(await generate(fixture.run), { kind: 'answered', text: '' });
  assert.deepEqual(fixture.events, [
    ...START,
    { type: 'thinking_stop' },
    { type: 'stream_end', created_ms: 1_000, spent },
    { ...STATUS, tool_calls_this_turn: 0, turn_count: 1 },
  ]);
  assert.deepEqual(fixture.messages.at(-1), { role: 'assistant', content: '', toolCalls: [], spent });
});

test('provider data is stored with the answer', async () => {
  const providerData = { test: { signature: 'x' } };
  const fixture = runFixture({
    turns: [
      [
        { type: 'content', text: 'a' },
        { type: 'finish', reason: 'stop', usage: USAGE, providerData },
      ],
    ],
  });
  await generate(fixture.run);
  assert.deepEqual(fixture.messages.at(-1), { role: 'assistant', content: 'a', toolCalls: [], providerData, spent });
});

test('a turn that breaks off returns its partial text without calls, and records nothing', async () => {
  const error = new ProviderError('interrupted', 'gone');
  const fixture = runFixture({
    turns: [
      async function* () {
        yield { type: 'content', text: 'Hel' };
        yield { type: 'tool_call', call: callOf('one') };
        throw error;
      },
    ],
  });
  assert.deepEqual(await generate(fixture.run), {
    kind: 'broken',
    error,
    partial: { role: 'assistant', content: 'Hel', toolCalls: [], partial: true },
  });
  assert.equal(fixture.messages.length, 1);
});

test('a turn that breaks off before its first word has no partial text', async () => {
  const error = new ProviderError('unreachable', 'nobody');
  const fixture = runFixture({
    turns: [
      // biome-ignore lint/correctness/useYield: it fails before its first part.
      async function* () {
        throw error;
      },
    ],
  });
  assert.deepEqual(await generate(fixture.run), { kind: 'broken', error, partial: undefined });
});

test('a stream that ends because of a stop is not an answer', async () => {
  const stop = new StopReason('cancel', 'stop');
  const fixture = runFixture({
    turns: [
      async function* () {
        yield { type: 'content', text: 'Hel' };
        fixture.stop(stop);
      },
    ],
  });
  const generated = await generate(fixture.run);
  assert.deepEqual(generated, {
    kind: 'broken',
    error: stop,
    partial: { role: 'assistant', content: 'Hel', toolCalls: [], partial: true },
  });
});

test('an answer that cannot be recorded counts as partial and is not lost', async () => {
  const error = new Error('disk');
  const fixture = runFixture({
    turns: [answerOf('Hello')],
    onRecord(step) {
      if (step.usage) throw error;
    },
  });
  assert.deepEqual(await generate(fixture.run), {
    kind: 'broken',
    error,
    partial: { role: 'assistant', content: 'Hello', toolCalls: [], partial: true },
  });
});

test('the used fraction of the context window has one decimal, and is 0 when the window is unknown', () => {
  assert.equal(statusOf({ ...USAGE, promptTokens: 123, completionTokens: 0 }, 1_000, 'low').pct, 12.3);
  assert.equal(statusOf({ ...USAGE, promptTokens: 1, completionTokens: 0 }, 3_000, 'low').pct, 0);
  assert.equal(statusOf(USAGE, 0, 'low').pct, 0);
});
