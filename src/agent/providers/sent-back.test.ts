import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { AssistantMessage, Message } from '../message.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import type { ModelRequest } from './model.ts';
import { createModels } from './models.ts';
import type { Fetch } from './provider.ts';

const FIXTURES = { google: 'google-stream', 'openai-compatible': 'chat-completions' } as const;

const asked: Message = { role: 'user', content: 'look around' };
const resultOf = (callId: string, name: string): Message => ({
  ...{ role: 'tool', callId, name, output: 'seen', outcome: 'done' },
});

/** A model whose server answers with a recorded response, and the bodies that it got. */
async function setUp(provider: keyof typeof FIXTURES, modelId: string) {
  const answer = await readFile(new URL(`./fixtures/${FIXTURES[provider]}.sse`, import.meta.url));
  const bodies: unknown[] = [];
  const fetch: Fetch = async (url, init) => {
    if (String(url).endsWith('/models')) return Response.json({ data: [{ id: modelId }] });
    bodies.push(JSON.parse(String(init?.body)));
    return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
  };
  const baseUrl = 'http://lab:8000/v1';
  const models = createModels({
    config: { models: { m: { provider, model: modelId, baseUrl, apiKey: 'key' } } },
    ...{ environment: {}, clock: fakeClock(), log: recordingLog(), fetch, post: postOver(fetch) },
  });
  const model = await models.resolve('m');
  const ask = async (messages: Message[]): Promise<AssistantMessage> => {
    const request: ModelRequest = { system: '', messages, tools: [], effort: 'low', typedByPerson: true };
    const message: AssistantMessage = { role: 'assistant', content: '', toolCalls: [] };
    for await (const part of model.stream(request, new AbortController().signal)) {
      if (part.type === 'content') message.content += part.text;
      if (part.type === 'tool_call') message.toolCalls.push(part.call);
      if (part.type === 'finish' && part.providerData) message.providerData = part.providerData;
    }
    return message;
  };
  return { bodies, ask };
}

const GoogleBody = z.object({ contents: z.array(z.object({ parts: z.array(z.looseObject({})) })) });
const ChatBody = z.object({ messages: z.array(z.looseObject({ role: z.string() })) });

test('google: the first call of a step goes back with its signature, calls of other models with the sentinel', async () => {
  const { bodies, ask } = await setUp('google', 'gemini-3.8-flash');
  const answer = await ask([asked]);
  const results = answer.toolCalls.map(({ id, name }) => resultOf(id, name));
  const { providerData: _, ...foreign } = answer;
  await ask([asked, answer, ...results]);
  await ask([asked, foreign, ...results]);
  const signatures = bodies
    .slice(1)
    .map((body) =>
      GoogleBody.parse(body).contents.flatMap(({ parts }) =>
        parts.flatMap((part) => ('functionCall' in part ? [part.thoughtSignature] : [])),
      ),
    );
  const sentinel = 'skip_thought_signature_validator';
  assert.deepEqual(signatures, [
    ['CiQB-signed', undefined],
    [sentinel, sentinel],
  ]);
});

test('deepseek: answers without thoughts carry empty ones; other servers get no such field', async () => {
  const call = { id: 'a', name: 'look', arguments: '{}' };
  const messages: Message[] = [asked, { role: 'assistant', content: '', toolCalls: [call] }, resultOf('a', 'look')];
  const thoughtsFor = async (modelId: string) => {
    const { bodies, ask } = await setUp('openai-compatible', modelId);
    await ask(messages);
    return ChatBody.parse(bodies.at(-1)).messages.find(({ role }) => role === 'assistant')?.reasoning_content;
  };
  assert.deepEqual([await thoughtsFor('deepseek-v4-pro'), await thoughtsFor('qwen')], ['', undefined]);
});

for (const [provider, modelId] of [
  ['google', 'gemini-3.8-flash'],
  ['openai-compatible', 'qwen3'],
] as const)
  test(`${provider}: half of a character is sent as the replacement character, also in what a tool is called with`, async () => {
    const { bodies, ask } = await setUp(provider, modelId);
    const half = 'cut \ud83d, \\ud83d and 😀';
    const toolCalls = [{ id: 'c1', name: 'bash', arguments: JSON.stringify({ command: half }) }];
    await ask([
      { role: 'user', content: half },
      { role: 'assistant', content: '', toolCalls },
      resultOf('c1', 'bash'),
      asked,
    ]);
    const texts: string[] = [];
    JSON.stringify(bodies, (_, value) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
    assert.ok(texts.includes('cut \ufffd, \\ud83d and 😀'));
    assert.deepEqual(
      texts.filter((text) => !text.isWellFormed()),
      [],
    );
  });
