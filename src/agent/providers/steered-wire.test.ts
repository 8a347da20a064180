import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { Message } from '../message.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import { createModels } from './models.ts';
import type { Fetch } from './provider.ts';

/** A run that a person steered, between the results of its calls and the next request. */
const STEERED: Message[] = [
  { role: 'user', content: 'tidy up' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
  { role: 'tool', callId: 'call_1', name: 'look', output: 'a mess', outcome: 'done' },
  { role: 'user', content: 'but keep the letters', steered: true },
];

type Body = Record<'messages' | 'input' | 'contents', Record<string, unknown>[]>;

/** The messages as a server gets them: role or type, and the kinds of their parts in order. */
const SHAPES: {
  provider: 'openai' | 'anthropic' | 'google' | 'openai-compatible';
  fixture: string;
  of(body: Body): unknown;
  due: unknown;
}[] = [
  {
    provider: 'anthropic',
    fixture: 'anthropic-messages',
    of: ({ messages }) => messages.map(({ role, content }) => [role, partsOf(content)]),
    // The results come first: otherwise the server refuses the request.
    due: [
      ['user', ['text']],
      ['assistant', ['tool_use']],
      ['user', ['tool_result', 'text']],
    ],
  },
  {
    provider: 'google',
    fixture: 'google-stream',
    of: ({ contents }) => contents.map(({ role, parts }) => [role, partsOf(parts)]),
    due: [
      ['user', ['text']],
      ['model', ['functionCall']],
      ['user', ['functionResponse']],
      ['user', ['text']],
    ],
  },
  {
    provider: 'openai',
    fixture: 'openai-responses',
    of: ({ input }) => input.map(({ role, type }) => role ?? type),
    due: ['developer', 'user', 'function_call', 'function_call_output', 'user'],
  },
  {
    provider: 'openai-compatible',
    fixture: 'chat-completions',
    of: ({ messages }) => messages.map(({ role }) => role),
    due: ['system', 'user', 'assistant', 'tool', 'user'],
  },
];

const partsOf = (content: unknown): unknown[] =>
  Array.isArray(content)
    ? content.map((part) => part.type ?? Object.keys(part).find((key) => key !== 'thoughtSignature'))
    : [typeof content];

test('a message that steers a run comes after the results of its calls, for every provider', async () => {
  for (const { provider, fixture, of, due } of SHAPES) {
    const answer = await readFile(new URL(`./fixtures/${fixture}.sse`, import.meta.url));
    const bodies: Body[] = [];
    const fetch: Fetch = async (url, init) => {
      if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm', max_model_len: 8_192 }] });
      bodies.push(JSON.parse(String(init?.body)));
      return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
    };
    const target = provider === 'openai-compatible' ? { model: 'm', baseUrl: 'http://lab:8000/v1' } : {};
    const models = createModels({
      config: { models: { m: { provider, ...target, apiKey: 'secret-key' } } },
      environment: {},
      clock: fakeClock(),
      log: recordingLog(),
      random: () => 0.5,
      fetch,
      post: postOver(fetch),
    });
    const model = await models.resolve('m');
    const request = { system: 'Be brief.', messages: STEERED, tools: [], effort: 'low' as const, typedByPerson: true };
    for await (const _part of model.stream(request, new AbortController().signal));
    assert.deepEqual(bodies.map(of), [due], provider);
  }
});
