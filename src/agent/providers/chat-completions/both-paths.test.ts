import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Message } from '../../message.ts';
import type { Fetch } from '../provider.ts';
import { answering, BASE_URL, outcomeOf, REQUEST } from './both-paths-fixture.ts';

const PATHS = ['sdk', 'ours'] as const;

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const calls = (...deltas: object[]) => chunk({ tool_calls: deltas });
const end = (finish: string) => `${chunk({}, finish)}data: [DONE]\n\n`;
const bash = (text: string, more: object = {}) => ({ function: { name: 'bash', arguments: text }, ...more });
const event = (payload: unknown) => `data: ${JSON.stringify(payload)}\n\n`;

test('the recorded answer of a server gives its reasoning, content, calls and usage', async () => {
  const recorded = await readFile(new URL('../fixtures/chat-completions.sse', import.meta.url));
  const pieces = Array.from({ length: Math.ceil(recorded.length / 37) }, (_, n) =>
    recorded.subarray(n * 37, (n + 1) * 37),
  );
  for (const path of PATHS) {
    assert.deepEqual(
      await outcomeOf(path, answering(pieces)),
      {
        parts: [
          { type: 'reasoning', text: 'The user wants the files – list them.' },
          { type: 'content', text: 'Let me look.' },
          { type: 'tool_call', call: { id: 'call_a1', name: 'list_directory', arguments: '{"path":"."}' } },
          { type: 'tool_call', call: { id: 'call_a2', name: 'bash', arguments: '{"command":"git log"}' } },
          {
            type: 'finish',
            reason: 'tool_calls',
            usage: { promptTokens: 800, completionTokens: 60, cacheCreationTokens: 0, cacheReadTokens: 512 },
          },
        ],
      },
      path,
    );
  }
});

/** Answers that both paths understand in the same way. */
const STREAMS: Record<string, string> = {
  'lines that end in CRLF': `${chunk({ content: 'a' })}${end('stop')}`.replaceAll('\n', '\r\n'),
  'comments, empty lines, other fields and a byte order mark': `\uFEFF: ping\n\n\n\nid: 1\nretry: 5\nevent: x\n${chunk({ content: 'a' })}:\n\n${end('stop')}`,
  'a chunk over several data lines': `data: {"choices":[{"delta":\ndata: {"content":"a"}}]}\n\n${end('stop')}`,
  'no space after the colon': `data:{"choices":[{"delta":{"content":"a"}}]}\n\n${end('stop')}`,
  'no [DONE]': chunk({ content: 'a' }, 'stop'),
  'reasoning instead of reasoning_content': `${chunk({ reasoning: 'hm' })}${chunk({ content: 'a' })}${end('stop')}`,
  'reasoning and content in one chunk': `${chunk({ reasoning_content: 'hm', content: 'a' })}${end('stop')}`,
  'reasoning after content': `${chunk({ content: 'a' })}${chunk({ reasoning: 'hm' })}${chunk({ content: 'b' })}${end('stop')}`,
  'a list of typed parts': `${chunk({
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }, { type: 'other' }, null] },
      { type: 'text', text: 'a' },
      { type: 'text' },
      { type: 'image', url: 'x' },
    ],
  })}${end('stop')}`,
  'a refusal': `${chunk({ refusal: 'I cannot ' })}${chunk({ refusal: 'help.', content: null }, 'stop')}data: [DONE]\n\n`,
  'a refusal that is no text': `${chunk({ content: 'a', refusal: false })}${end('stop')}`,
  'a content filter': `${chunk({ content: 'a' })}${end('content_filter')}`,
  'an unknown finish reason': `${chunk({ content: 'a' })}${end('eos')}`,
  'the length limit': `${chunk({ content: 'a' })}${end('length')}`,
  'usage in the last chunk with a choice': `${chunk({ content: 'a' })}${event({
    choices: [{ delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 2 } },
  })}`,
  'usage in every chunk': [1, 2, 3]
    .map((n) => event({ choices: [{ delta: { content: 'a' } }], usage: { prompt_tokens: 7, completion_tokens: n } }))
    .concat(end('stop'))
    .join(''),
  'nulls everywhere': `${event({
    id: null,
    choices: [{ delta: { content: null, role: null, refusal: null, tool_calls: null, reasoning: null } }],
    usage: null,
  })}${event({ choices: [{ delta: null, finish_reason: null }] })}${end('stop')}`,
  'chunks without a choice': `${event({ choices: [] })}${chunk({ content: 'a' })}${end('stop')}`,
  'an empty answer': end('stop'),
  'a call in pieces': `${calls({ index: 0, id: 'a', function: { name: 'bash', arguments: '' } })}${calls({
    index: 0,
    function: { arguments: '{"command":' },
  })}${calls({ index: 0, function: { arguments: '"ls"}' } })}${end('tool_calls')}`,
  'two calls in turns': `${calls(bash('{', { index: 0, id: 'a' }), bash('{', { index: 1, id: 'b' }))}${calls(
    { index: 1, function: { arguments: '"x":1}' } },
    { index: 0, function: { arguments: '}' } },
  )}${end('tool_calls')}`,
  'whole calls in one chunk, without indexes': `${calls(bash('{"a":1}', { id: 'a' }), bash('{"b":2}', { id: 'b' }))}${end('stop')}`,
  'calls without ids': `${calls(bash('{"a":1}', { index: 0 }), bash('{"b":2}', { index: 1 }))}${end('stop')}`,
  'a call without arguments': `${calls({ index: 0, id: 'a', function: { name: 'bash' } })}${end('tool_calls')}`,
  'a name that comes late': `${calls({ index: 0, id: 'a', function: { arguments: '{"a":' } })}${calls({
    index: 0,
    function: { name: 'bash', arguments: '1}' },
  })}${end('tool_calls')}`,
  'the same id twice': `${calls(bash('{}', { index: 0, id: 'a' }), bash('{}', { index: 1, id: 'a' }))}${end('tool_calls')}`,
  'a signature on a call': `${calls(
    bash('{}', { index: 0, id: 'a', extra_content: { google: { thought_signature: 'CiQB' } } }),
  )}${end('tool_calls')}`,
  'an error in mid-stream': `${chunk({ content: 'kept' })}${event({ error: { message: 'the engine died', code: null } })}`,
  'an overload in mid-stream': `${chunk({ content: 'kept' })}${event({ error: { message: 'slow down', code: 429 } })}`,
  'no finish reason': chunk({ content: 'kept' }),
  'a name that never comes': `${calls({ index: 0, id: 'a', function: { arguments: '{}' } })}${end('tool_calls')}`,
};

for (const [what, text] of Object.entries(STREAMS)) {
  test(`${what}: the same as through the SDK, wherever the network cuts the answer`, async () => {
    const bytes = Buffer.from(text);
    const expected = withoutMadeIds(await outcomeOf('sdk', answering([bytes])));
    assert.deepEqual(withoutMadeIds(await outcomeOf('ours', answering([bytes]))), expected);
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    assert.deepEqual(withoutMadeIds(await outcomeOf('ours', answering(single))), expected);
  });
}

type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

/** Replaces ids of calls that the server did not send. */
function withoutMadeIds({ parts, error }: Outcome): Outcome {
  const named = parts.map((part) => {
    if (part.type !== 'tool_call') return part;
    const { id, name, arguments: text } = part.call;
    return { ...part, call: { id: id.length > 3 ? 'made' : id, name, arguments: text } };
  });
  return { parts: named, ...(error && { error }) };
}

for (const [what, text] of Object.entries({
  'broken JSON': 'data: {"choices":[{"del\n\n',
  'a chunk without choices': event({ object: 'error', message: 'boom' }),
  'a text instead of a chunk': event('boom'),
  'null instead of a chunk': event(null),
  'choices that are no list': event({ choices: 'none' }),
  'content that is a number': chunk({ content: 5 }),
  'calls that are no list': chunk({ tool_calls: 'bash' }),
  'arguments that are an object': calls({ index: 0, id: 'a', function: { name: 'bash', arguments: {} } }),
  'an error without a message': event({ error: {} }),
  'an error that is a text': event({ error: 'boom' }),
})) {
  test(`${what} interrupts the answer, and the text before it stays`, async () => {
    for (const path of PATHS) {
      const { parts, error } = await outcomeOf(path, answering([chunk({ content: 'kept' }), text, end('stop')]));
      const { kind, retryable } = error ?? {};
      assert.deepEqual(
        { parts, kind, retryable },
        { parts: [{ type: 'content', text: 'kept' }], kind: 'interrupted', retryable: true },
        path,
      );
    }
  });
}

test('a cut before the finish reason leaves no calls, so that the request may be repeated', async () => {
  const cut = answering([calls(bash('{"a":1}', { index: 0, id: 'a' }))]);
  assert.deepEqual((await outcomeOf('ours', cut)).parts, []);
});

for (const [status, body, headers] of [
  [400, '{"error":{"message":"no such model","type":"invalid","code":"x"}}', {}],
  [401, '{"error":{"message":"Incorrect API key: secret-key"}}', {}],
  [404, '{"detail":"Not Found"}', {}],
  [413, '', {}],
  [429, '{"error":{"message":"slow down"}}', { 'retry-after': '7' }],
  [429, '{"error":{"message":"no money","code":"insufficient_quota"}}', {}],
  [500, 'it said secret-key', {}],
  [502, '<html>Bad Gateway</html>', { 'content-type': 'text/html' }],
  [503, 'null', { 'retry-after-ms': '1500' }],
  [529, '{"error":"overloaded"}', {}],
  [204, '', {}],
  [304, '', {}],
] as const) {
  test(`${status} ${body}: the same error as through the SDK`, async () => {
    const init = { status, statusText: 'Its Text', headers };
    const hasBody = status !== 204 && status !== 304;
    const fetch: Fetch = async () => new Response(hasBody ? body : null, init);
    const [theirs, ours] = [await outcomeOf('sdk', fetch), await outcomeOf('ours', fetch)];
    // The SDK has its own words for a successful answer without a body.
    if (status === 204) assert.equal(ours.error?.kind, theirs.error?.kind);
    else assert.deepEqual(ours, theirs);
  });
}

test('the request is the same as the SDK’s', async () => {
  const messages: Message[] = [
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
    {
      role: 'assistant',
      content: 'ok',
      reasoning: 'hm',
      toolCalls: [{ id: 'a', name: 'bash', arguments: '{"command":"ls"}' }],
    },
    { role: 'tool', callId: 'a', name: 'bash', output: 'x', outcome: 'failed' },
  ];
  const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } }];
  const asked: Record<string, unknown>[] = [];
  const fetch: Fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    const named = ['authorization', 'content-type'].map((name) => headers.get(name));
    const body: unknown = JSON.parse(Buffer.from(await new Response(init?.body).arrayBuffer()).toString());
    asked.push({ url: String(url), method: init?.method, named, body });
    return answering([end('stop')])(url);
  };
  const request = { ...REQUEST, messages, tools, maxOutputTokens: 7, temperature: 0.5 };
  for (const path of PATHS) await outcomeOf(path, fetch, request);
  assert.equal(asked[1]?.url, `${BASE_URL}/chat/completions`);
  assert.deepEqual(asked[1], asked[0]);
});

const textual = fc.record(
  {
    content: fc.option(fc.string({ unit: 'binary' })),
    reasoning_content: fc.option(fc.string()),
    refusal: fc.option(fc.string()),
  },
  { requiredKeys: [] },
);
const toolDelta = fc.record(
  {
    index: fc.option(fc.nat({ max: 2 })),
    id: fc.option(fc.constantFrom('a', 'b', '')),
    function: fc.record(
      {
        name: fc.option(fc.constantFrom('bash', 'edit', '')),
        arguments: fc.option(fc.constantFrom('', '{', '}', '{}', '{"a":1}', ' ')),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['function'] },
);
const someChunk = fc.oneof(
  { weight: 4, arbitrary: textual.map((delta) => chunk(delta)) },
  { weight: 4, arbitrary: fc.array(toolDelta, { maxLength: 3 }).map((deltas) => calls(...deltas)) },
  { weight: 1, arbitrary: fc.constantFrom(': ping\n\n', end('stop'), end('tool_calls'), end('length'), '\r\n') },
  { weight: 1, arbitrary: fc.nat().map((n) => event({ choices: [], usage: { prompt_tokens: n } })) },
);

test('random answers mean the same as through the SDK', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someChunk, { maxLength: 12 }), fc.integer({ min: 1, max: 64 }), async (chunks, size) => {
      const bytes = Buffer.from(`${chunks.join('')}${end('stop')}`);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      );
      const [theirs, ours] = [await outcomeOf('sdk', answering(pieces)), await outcomeOf('ours', answering(pieces))];
      if (theirs.error) assert.equal(ours.error?.kind, theirs.error.kind);
      else assert.deepEqual(withoutMadeIds(ours), withoutMadeIds(theirs));
    }),
    { numRuns: 200 },
  );
});

for (const reason of ['insufficient_system_resource', 'abort', 'error']) {
  test(`an answer whose server gave up (${reason}) has ended early`, async () => {
    const { error } = await outcomeOf('ours', answering([`${chunk({ content: 'half' })}${end(reason)}`]));
    assert.deepEqual([error?.kind, error?.retryable], ['interrupted', true]);
  });
}

test('an empty finish reason is none', async () => {
  const half = await outcomeOf('ours', answering([chunk({ content: 'half' }, '')]));
  assert.deepEqual([half.error?.kind, half.error?.retryable], ['interrupted', true]);
  const cut = `${chunk({ content: 'a' }, '')}${chunk({ content: 'b' }, 'length')}${chunk({}, '')}`;
  const { parts } = await outcomeOf('ours', answering([cut]));
  assert.deepEqual(
    parts.map((part) => (part.type === 'finish' ? part.reason : part)),
    [{ type: 'content', text: 'ab' }, 'length'],
  );
});

const NOT_COUNTED = { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };

for (const [what, usage, expected] of [
  ['a negative number', { prompt_tokens: -5, completion_tokens: 3 }, NOT_COUNTED],
  ['an enormous number', { prompt_tokens: 7, completion_tokens: 1e18 }, NOT_COUNTED],
  [
    'a broken number',
    { prompt_tokens: 12.5, completion_tokens: 3 },
    { ...NOT_COUNTED, promptTokens: 13, completionTokens: 3 },
  ],
  [
    'a wrong detail',
    {
      ...{ prompt_tokens: 7, completion_tokens: 3 },
      prompt_tokens_details: { cached_tokens: -1 },
      completion_tokens_details: { reasoning_tokens: 1e300 },
    },
    { ...NOT_COUNTED, promptTokens: 7, completionTokens: 3 },
  ],
] as const)
  test(`${what} of tokens does not reach the usage`, async () => {
    const finish = event({ choices: [{ delta: {}, finish_reason: 'stop' }], usage });
    for (const path of PATHS) {
      const { parts } = await outcomeOf(path, answering([chunk({ content: 'a' }), finish]));
      const last = parts.at(-1);
      assert.deepEqual(last?.type === 'finish' && last.usage, expected, path);
    }
  });
