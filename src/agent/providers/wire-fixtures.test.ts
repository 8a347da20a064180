import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { AssistantMessage, Message } from '../message.ts';
import { streamAiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import { google } from './google.ts';
import { HOSTED } from './known-models.ts';
import type { ModelPart, ModelRequest } from './model.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider.ts';

const PROVIDERS = { openai, anthropic, google };
type Name = keyof typeof PROVIDERS;

const fixture = (name: string) => readFile(new URL(`./fixtures/${name}.sse`, import.meta.url));

/** Answers every request with the given bytes, in small chunks, and records the requests. */
function replay(bytes: Uint8Array, { status = 200, piece = 37 } = {}) {
  const asked: { url: string; headers: Headers; body: Record<string, unknown> }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push({ url: String(url), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += piece) controller.enqueue(bytes.subarray(at, at + piece));
        controller.close();
      },
    });
    const type = status === 200 ? 'text/event-stream' : 'application/json';
    return new Response(body, { status, headers: { 'content-type': type } });
  };
  return { asked, fetch };
}

async function ask(name: Name, fetch: typeof globalThis.fetch, more: Partial<ModelRequest> = {}): Promise<ModelPart[]> {
  const { modelId, baseUrl, keyName } = HOSTED[name];
  const kind: Provider = PROVIDERS[name];
  const clock = fakeClock();
  const model = await kind.open({ modelId, baseUrl, apiKey: 'secret-key', fetch, post: postOver(fetch), clock });
  const request: ModelRequest = {
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'look around' }],
    tools: [
      {
        name: 'bash',
        description: 'Runs.',
        parameters: { type: 'object', properties: { command: { type: 'string' } } },
      },
    ],
    effort: 'high',
    typedByPerson: true,
    ...more,
  };
  const parts: ModelPart[] = [];
  const upstream = { provider: name, baseUrl, apiKey: 'secret-key', keyName };
  const deadlines = { firstMs: 60_000, betweenMs: 60_000 };
  const around = { clock, signal: new AbortController().signal, deadlines, onPart: () => undefined };
  const answer = streamAiSdk({ model, kind, upstream }, request, around);
  for await (const part of answer) parts.push(part);
  return parts;
}

/** The part of an answer that the runtime stores. */
function toMessage(parts: ModelPart[]): AssistantMessage {
  const message: AssistantMessage = { role: 'assistant', content: '', reasoning: '', toolCalls: [] };
  for (const part of parts) {
    if (part.type === 'content') message.content += part.text;
    if (part.type === 'reasoning') message.reasoning += part.text;
    if (part.type === 'tool_call') message.toolCalls.push(part.call);
    if (part.type === 'finish' && part.providerData) message.providerData = part.providerData;
  }
  return message;
}

const plain = (parts: ModelPart[]) =>
  parts.map((part) => {
    if (part.type !== 'finish') return part;
    const { providerData: _, ...rest } = part;
    return rest;
  });

const call = (id: string, name: string, text: string): ModelPart => ({
  type: 'tool_call',
  call: { id, name, arguments: text },
});

test('openai: reasoning summary, content, parallel calls and cache usage', async () => {
  const { fetch, asked } = replay(await fixture('openai-responses'));
  assert.deepEqual(plain(await ask('openai', fetch)), [
    { type: 'reasoning', text: '**Looking around**\n\n' },
    { type: 'reasoning', text: 'I should list the files – then read.' },
    { type: 'content', text: 'Let me ' },
    { type: 'content', text: 'look.' },
    call('call_a1', 'list_directory', '{"path":"."}'),
    call('call_a2', 'bash', '{"command":"git log"}'),
    {
      type: 'finish',
      reason: 'tool_calls',
      usage: {
        promptTokens: 1200,
        completionTokens: 90,
        cacheCreationTokens: 0,
        cacheReadTokens: 1024,
        reasoningTokens: 40,
      },
    },
  ]);
  const { store, reasoning, include, stream } = asked[0]?.body ?? {};
  assert.deepEqual(
    { url: asked[0]?.url, key: asked[0]?.headers.get('authorization'), store, reasoning, include, stream },
    {
      url: 'https://api.openai.com/v1/responses',
      key: 'Bearer secret-key',
      store: false,
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      stream: true,
    },
  );
});

test('anthropic: thinking, redacted thinking, content, calls with malformed arguments, cache usage', async () => {
  const { fetch, asked } = replay(await fixture('anthropic-messages'));
  assert.deepEqual(plain(await ask('anthropic', fetch)), [
    { type: 'reasoning', text: 'The user wants ' },
    { type: 'reasoning', text: 'the files – list them.' },
    { type: 'content', text: 'Let me ' },
    { type: 'content', text: 'look.' },
    call('toolu_01', 'list_directory', '{"path": "."}'),
    call('toolu_02', 'bash', '{"command": "git log"'),
    {
      type: 'finish',
      reason: 'tool_calls',
      usage: { promptTokens: 2360, completionTokens: 131, cacheCreationTokens: 300, cacheReadTokens: 2048 },
    },
  ]);
  const { cache_control, thinking, output_config } = asked[0]?.body ?? {};
  assert.deepEqual(
    { url: asked[0]?.url, key: asked[0]?.headers.get('x-api-key'), cache_control, thinking, output_config },
    {
      url: 'https://api.anthropic.com/v1/messages',
      key: 'secret-key',
      cache_control: { type: 'ephemeral' },
      thinking: { type: 'adaptive', display: 'summarized', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      output_config: { effort: 'high' },
    },
  );
});

test('google: thoughts, content, parallel calls and cache usage', async () => {
  const { fetch, asked } = replay(await fixture('google-stream'));
  const parts = plain(await ask('google', fetch));
  const ids = parts.flatMap((part) => (part.type === 'tool_call' ? [part.call.id] : []));
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(parts, [
    { type: 'reasoning', text: '**Looking**\n\nThe user wants ' },
    { type: 'reasoning', text: 'the files – list them.' },
    { type: 'content', text: 'Let me look.' },
    call(ids[0] ?? '', 'list_directory', '{"path":"."}'),
    call(ids[1] ?? '', 'bash', '{"command":"git log"}'),
    {
      type: 'finish',
      reason: 'tool_calls',
      usage: {
        promptTokens: 800,
        completionTokens: 60,
        cacheCreationTokens: 0,
        cacheReadTokens: 512,
        reasoningTokens: 20,
      },
    },
  ]);
  assert.deepEqual(
    { url: asked[0]?.url, key: asked[0]?.headers.get('x-goog-api-key'), config: asked[0]?.body.generationConfig },
    {
      url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
      key: 'secret-key',
      config: { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
    },
  );
});

const results = (message: AssistantMessage): Message[] =>
  message.toolCalls.map(({ id, name }) => ({
    role: 'tool',
    callId: id,
    name,
    output: 'done',
    outcome: name === 'bash' ? 'failed' : 'done',
  }));

/** The second request of a conversation, after the answer of the fixture went through JSON as the store does it. */
async function askAgain(name: Name, file: string, change: (message: AssistantMessage) => AssistantMessage = (m) => m) {
  const { fetch, asked } = replay(await fixture(file));
  const message = change(JSON.parse(JSON.stringify(toMessage(await ask(name, fetch)))));
  await ask(name, fetch, { messages: [{ role: 'user', content: 'look around' }, message, ...results(message)] });
  return asked[1]?.body ?? {};
}

test('openai gets its encrypted reasoning back, before the parts that followed it', async () => {
  const { input } = await askAgain('openai', 'openai-responses');
  assert.deepEqual(input, [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'look around' }] },
    {
      type: 'reasoning',
      id: 'rs_01',
      encrypted_content: 'gAAAAABo-opaque-final',
      summary: [{ type: 'summary_text', text: '**Looking around**\n\nI should list the files – then read.' }],
    },
    { role: 'assistant', content: 'Let me look.', phase: 'commentary' },
    { type: 'function_call', call_id: 'call_a1', name: 'list_directory', arguments: '{"path":"."}' },
    { type: 'function_call', call_id: 'call_a2', name: 'bash', arguments: '{"command":"git log"}' },
    { type: 'function_call_output', call_id: 'call_a1', output: 'done' },
    { type: 'function_call_output', call_id: 'call_a2', output: '{"error":"done"}' },
  ]);
});

test('anthropic gets its signed and redacted thinking back, and malformed arguments as an object', async () => {
  const { messages } = await askAgain('anthropic', 'anthropic-messages');
  assert.deepEqual(messages, [
    { role: 'user', content: [{ type: 'text', text: 'look around' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'The user wants the files – list them.', signature: 'EqQBCgIYAhIM-signed' },
        { type: 'redacted_thinking', data: 'EmwKAhgB-redacted' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_01', name: 'list_directory', input: { path: '.' } },
        { type: 'tool_use', id: 'toolu_02', name: 'bash', input: { malformed_arguments: '{"command": "git log"' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01', content: 'done' },
        { type: 'tool_result', tool_use_id: 'toolu_02', content: 'done', is_error: true },
      ],
    },
  ]);
});

test('google gets its thought signature back on the call that carried it', async () => {
  const { contents } = await askAgain('google', 'google-stream');
  assert.match(
    JSON.stringify(contents),
    /"functionCall":\{[^}]*"name":"list_directory","args":\{"path":"\."\}\},"thoughtSignature":"CiQB-signed"/,
  );
});

test('an answer that was changed since loses its signed parts and keeps its text', async () => {
  const { messages } = await askAgain('anthropic', 'anthropic-messages', (message) => ({
    ...message,
    content: 'Edited.',
  }));
  const text = JSON.stringify(messages);
  assert.deepEqual(
    [text.includes('Edited.'), text.includes('signed'), text.includes('"thinking"')],
    [true, false, false],
  );
});

for (const [name, file] of [
  ['openai', 'openai-responses'],
  ['anthropic', 'anthropic-messages'],
  ['google', 'google-stream'],
] as const) {
  test(`${name}: an answer that ends early is interrupted`, async () => {
    const whole = await fixture(file);
    for (const share of [0.2, 0.5, 0.8]) {
      const { fetch } = replay(whole.subarray(0, Math.floor(whole.length * share)));
      await assert.rejects(ask(name, fetch), { kind: 'interrupted' }, `cut at ${share}`);
    }
  });

  test(`${name}: the error for a rejected key names its variable and not the key`, async () => {
    const body = {
      type: 'error',
      error: { type: 'authentication_error', code: 401, status: 'UNAUTHENTICATED', message: 'bad secret-key' },
    };
    const { fetch } = replay(Buffer.from(JSON.stringify(body)), { status: 401 });
    const message = `${name} rejected the key from ${HOSTED[name].keyName} (401).`;
    await assert.rejects(ask(name, fetch), { kind: 'unauthorized', message, retryable: false });
  });
}

test('anthropic: an overload that comes as an event is rate limiting', async () => {
  const { fetch } = replay(await fixture('anthropic-overloaded'));
  await assert.rejects(ask('anthropic', fetch), { kind: 'rate_limited', retryable: true, message: /Overloaded/ });
});

test('google: 400 for a wrong key is about the key', async () => {
  const body = {
    error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' },
  };
  const { fetch } = replay(Buffer.from(JSON.stringify(body)), { status: 400 });
  await assert.rejects(ask('google', fetch), { kind: 'unauthorized' });
});
