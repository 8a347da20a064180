import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { Message } from '../message.ts';
import { streamAiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import type { ModelPart, ModelRequest } from './model.ts';
import { openai } from './openai.ts';

const REQUEST: ModelRequest = { system: '', messages: [], tools: [], effort: 'low', typedByPerson: true };
const BINDING = {
  ...{ type: 'adaptive', display: 'summarized' },
  blockBinding: { prefixMismatchBehavior: 'drop_block' },
};

test('anthropic: the cache lasts an hour if the next request may have to wait', () => {
  const cacheOf = (mayPause: boolean) =>
    anthropic.options({ ...REQUEST, mayPause }, 'claude-opus-4-8').providerOptions?.anthropic?.cacheControl;
  assert.deepEqual([cacheOf(false), cacheOf(true)], [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }]);
});

test('anthropic: only models that bind their thoughts are told what to do about those that no longer fit', () => {
  const thinkingOf = (modelId: string) => anthropic.options(REQUEST, modelId).providerOptions?.anthropic?.thinking;
  assert.deepEqual(
    ['claude-fable-5-2', 'claude-opus-5-5', 'claude-sonnet-5-5-20260901', 'claude-opus-4-8', 'claude-3-haiku'].map(
      thinkingOf,
    ),
    [BINDING, BINDING, BINDING, undefined, undefined],
  );
});

test('openai: the requests of a conversation share a cache', () => {
  const options = openai.options({ ...REQUEST, conversation: 'a1b2' }, 'gpt-6.1-terra');
  assert.equal(options.providerOptions?.openai?.promptCacheKey, 'a1b2');
});

test('thoughts that the server dropped are counted', async () => {
  const finish: LanguageModelV4StreamPart = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    providerMetadata: {
      anthropic: { inputTransformations: [{ type: 'dropped', path: 'messages.1', reason: 'prefix_mismatch' }] },
    },
  };
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      controller.enqueue(finish);
      controller.close();
    },
  });
  const model = { modelId: 'm', doStream: async () => ({ stream }) };
  const upstream = { provider: 'anthropic' as const, baseUrl: 'http://x', apiKey: 'k', keyName: 'K' };
  const around = { clock: fakeClock(), signal: new AbortController().signal, deadlines: { firstMs: 1, betweenMs: 1 } };
  const parts: ModelPart[] = [];
  for await (const part of streamAiSdk({ model, kind: anthropic, upstream }, REQUEST, {
    ...around,
    onPart: () => undefined,
  }))
    parts.push(part);
  assert.deepEqual(
    parts.map((part) => part.type === 'finish' && part.droppedThoughts),
    [1],
  );
});

test('anthropic: models with a budget for thoughts do not think while they read results that another model asked for', () => {
  const calls = [{ id: 'a', name: 'bash', arguments: '{}' }];
  const parts = [
    { type: 'reasoning', text: 'hm', options: { anthropic: { signature: 's' } } },
    { type: 'tool-call', callId: 'a' },
  ];
  const answer = (modelId?: string): Message => ({
    ...{ role: 'assistant', content: '', toolCalls: calls },
    ...(modelId !== undefined && { providerData: { anthropic: { modelId, parts } } }),
  });
  const thinks = (modelId: string, last: Message) =>
    anthropic.options({ ...REQUEST, messages: [last] }, modelId).reasoning !== undefined;
  const older = 'claude-sonnet-4-5';
  assert.deepEqual(
    [
      thinks(older, answer()),
      thinks(older, answer('other')),
      thinks(older, answer(older)),
      thinks('claude-opus-5-5', answer()),
    ],
    [false, false, true, true],
  );
});
