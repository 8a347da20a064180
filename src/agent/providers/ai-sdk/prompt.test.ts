import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssistantMessage, Message } from '../../message.ts';
import { createCallIds } from './call-ids.ts';
import { CONTINUE, NOT_KEPT, toPrompt } from './prompt.ts';

const to = { provider: 'openai-compatible', modelId: 'm', sendsPlainReasoning: true };

const inputOf = (text: string) => {
  const message: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'bash', arguments: text }] };
  const [assistant] = toPrompt({ system: '', messages: [message] }, to);
  const part = assistant?.role === 'assistant' ? assistant.content[0] : undefined;
  return part?.type === 'tool-call' ? part.input : undefined;
};

test('arguments go back as the model wrote them; values other than objects are wrapped', () => {
  assert.equal(inputOf('{"a":  1}'), '{"a":  1}');
  for (const text of ['{"a": ', '[1]', '"text"', 'null', ''])
    assert.deepEqual(inputOf(text), { malformed_arguments: text });
});

test('names that the SDK’s parser rejects do not break a history', () => {
  for (const text of ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":1}}', '{"\\u005f_proto__":1}']) {
    assert.deepEqual(JSON.stringify(inputOf(text)), JSON.stringify(JSON.parse(text)));
  }
});

const signed: AssistantMessage = {
  role: 'assistant',
  content: 'Hi.',
  reasoning: 'hm',
  toolCalls: [],
  providerData: {
    anthropic: {
      modelId: 'm',
      parts: [
        { type: 'reasoning', text: 'hm', options: { anthropic: { signature: 's' } } },
        { type: 'text', text: 'Hi.' },
      ],
    },
  },
};

test('signed parts go back to the model that signed them, to no other', () => {
  const partsFor = (provider: string, modelId: string) =>
    toPrompt({ system: '', messages: [signed] }, { provider, modelId, sendsPlainReasoning: false })[0]?.content;
  assert.deepEqual(partsFor('anthropic', 'm'), [
    { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
    { type: 'text', text: 'Hi.' },
  ]);
  const plain = [{ type: 'text', text: 'Hi.' }];
  assert.deepEqual([partsFor('anthropic', 'other'), partsFor('openai', 'm')], [plain, plain]);
});

test('reasoning that is bound to another beginning is left out; text, calls and their data stay', () => {
  const call = { id: 'a', name: 'bash', arguments: '{}' };
  const answerUnder = (prefix: string | undefined): AssistantMessage => ({
    ...{ role: 'assistant', content: 'Hi.', reasoning: 'hm', toolCalls: [call] },
    providerData: {
      anthropic: {
        ...{ modelId: 'm', prefix },
        parts: [
          { type: 'reasoning', text: 'hm', options: { anthropic: { signature: 's' } } },
          { type: 'text', text: 'Hi.' },
          { type: 'tool-call', callId: 'a', options: { anthropic: { caller: 'direct' } } },
        ],
      },
    },
  });
  const typesFor = (written: string | undefined, now: string | undefined) => {
    const author = { provider: 'anthropic', modelId: 'm', prefix: now, sendsPlainReasoning: false };
    const content = toPrompt({ system: '', messages: [answerUnder(written)] }, author)[0]?.content;
    return Array.isArray(content) && content.map(({ type }) => type);
  };
  const all = ['reasoning', 'text', 'tool-call'];
  assert.deepEqual(
    [typesFor('v1', 'v1'), typesFor('v1', undefined), typesFor('v1', 'v2'), typesFor(undefined, 'v2')],
    [all, all, ['text', 'tool-call'], ['text', 'tool-call']],
  );
});

test('a continued answer is sent as the two answers that it was, each with its signed parts', () => {
  const whole: AssistantMessage = {
    role: 'assistant',
    content: 'Hi. And bye.',
    reasoning: 'hm',
    toolCalls: [],
    cutPart: { contentChars: 3, reasoningChars: 2, ...(signed.providerData && { providerData: signed.providerData }) },
  };
  const half: AssistantMessage = { ...whole, content: 'Hi.' };
  const question: Message = { role: 'user', content: 'hello' };
  const target = { provider: 'anthropic', modelId: 'm', sendsPlainReasoning: false };
  const later = toPrompt({ system: '', messages: [question, whole, question] }, target);
  assert.deepEqual(
    [later.slice(0, 3), later.slice(3).map(({ role, content }) => [role, content])],
    [
      toPrompt({ system: '', messages: [question, half] }, target),
      [
        ['assistant', [{ type: 'text', text: ' And bye.' }]],
        ['user', [{ type: 'text', text: 'hello' }]],
      ],
    ],
  );
  assert.deepEqual(
    later.slice(1, 3).map(({ content }) => content),
    [
      [
        { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
        { type: 'text', text: 'Hi.' },
      ],
      [{ type: 'text', text: CONTINUE }],
    ],
  );
});

test('what the daemon tells the model follows the output of the call', () => {
  const result: Message = {
    role: 'tool',
    callId: 'a',
    name: 'bash',
    output: 'ran',
    outcome: 'done',
    notice: 'finish.',
  };
  const [tool] = toPrompt({ system: '', messages: [result] }, to);
  const part = tool?.role === 'tool' ? tool.content[0] : undefined;
  assert.deepEqual(part?.type === 'tool-result' && part.output, { type: 'text', value: 'ran\n\n[Headgate: finish.]' });
});

test('provider data that cannot be read is left out', () => {
  const message = { ...signed, providerData: { anthropic: { modelId: 'm', parts: [{ type: 'odd' }] } } };
  const [assistant] = toPrompt(
    { system: '', messages: [message] },
    { ...to, provider: 'anthropic', sendsPlainReasoning: false },
  );
  assert.deepEqual(assistant?.content, [{ type: 'text', text: 'Hi.' }]);
});

test('call ids become unique and harmless', () => {
  const call = { id: 'call_0', name: 'bash', arguments: '{}' };
  const ids = createCallIds({ messages: [{ role: 'assistant', content: '', toolCalls: [call] }] });
  assert.deepEqual(
    ['call_0', 'call_0', 'functions.bash:0', '', 'x'.repeat(99)].map((id) => ids.take(id)),
    ['call_0_2', 'call_0_3', 'functions_bash_0', 'call', 'x'.repeat(56)],
  );
});

test('call ids are not those of calls that the request leaves out', () => {
  const ids = createCallIds({ messages: [calling('call_2')], earlierCalls: new Set(['call_0', 'call_0_2', 'call_1']) });
  assert.deepEqual(
    ['call_0', 'call_1', 'call_2', 'call_3'].map((id) => ids.take(id)),
    ['call_0_3', 'call_1_2', 'call_2_2', 'call_3'],
  );
});

const calling = (...ids: string[]): Message => ({
  role: 'assistant',
  content: '',
  reasoning: `I need ${ids.join(' and ')}.`,
  toolCalls: ids.map((id) => ({ id, name: 'bash', arguments: '{}' })),
});
const resultOf = (id: string): Message => ({ role: 'tool', callId: id, name: 'bash', output: id, outcome: 'done' });
const asked = (content: string): Message => ({ role: 'user', content });
const answered = (content: string): Message => ({ role: 'assistant', content, reasoning: 'Easy.', toolCalls: [] });

test('results go back in the order of the calls, whichever finished first', () => {
  const messages = [asked('go'), calling('a', 'b', 'c'), resultOf('c'), resultOf('a'), resultOf('b')];
  const ids = toPrompt({ system: '', messages }, to).flatMap((message) =>
    message.role === 'tool' ? message.content.map((part) => part.type === 'tool-result' && part.toolCallId) : [],
  );
  assert.deepEqual(ids, ['a', 'b', 'c']);
});

test('the thoughts of a turn with calls go back in every later request, others in none', () => {
  const messages = [asked('go'), calling('a'), resultOf('a'), answered('Done.'), asked('and?'), answered('So.')];
  const thoughts = toPrompt({ system: '', messages }, to).flatMap((message) =>
    message.role === 'assistant' ? message.content.filter(({ type }) => type === 'reasoning') : [],
  );
  assert.deepEqual(thoughts, [
    { type: 'reasoning', text: 'I need a.' },
    { type: 'reasoning', text: 'Easy.' },
  ]);
});

test('a second call with the same id gets another one, and so does its result', () => {
  const messages = [asked('go'), calling('a'), resultOf('a'), calling('a', 'a_2'), resultOf('a_2'), resultOf('a')];
  const ids = toPrompt({ system: '', messages }, to).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
  );
  assert.deepEqual(ids, ['a', 'a', 'a_2', 'a_2_2', 'a_2', 'a_2_2']);
});

test('thoughts that led to nothing, because the answer was cut off, are not sent', () => {
  const options = { anthropic: { signature: 's' } };
  const answer = (content: string, types: ('reasoning' | 'text')[]): AssistantMessage => ({
    ...{ role: 'assistant', content, reasoning: 'hm', toolCalls: [] },
    providerData: {
      anthropic: {
        modelId: 'm',
        parts: types.map((type) => ({ type, text: type === 'text' ? content : 'hm', options })),
      },
    },
  });
  const messages = [asked('go'), answer('', ['reasoning']), asked('on'), answer('Hi.', ['text', 'reasoning'])];
  const prompt = toPrompt(
    { system: '', messages },
    { provider: 'anthropic', modelId: 'm', sendsPlainReasoning: false },
  );
  assert.deepEqual(prompt, [
    { role: 'user', content: [{ type: 'text', text: 'go\n\non' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Hi.', providerOptions: options }] },
  ]);
});

test('every request begins with all of the last one, on every wire', () => {
  const told = { date: '', zone: '', model: '', notSandboxed: null, instructions: {}, tools: {} };
  const noted: Message = { role: 'user', content: '<environment>', environment: { version: 'v', told } };
  const talk: Message[][] = [
    [asked('one')],
    [calling('a', 'b'), resultOf('b'), resultOf('a'), asked('but wait')],
    [calling('c'), resultOf('c')],
    [answered('Done.'), asked('two'), noted],
    [{ ...signed, content: 'Hi.' }, asked('three')],
  ];
  for (const provider of ['openai-compatible', 'openai', 'anthropic', 'google']) {
    const wire = { provider, modelId: 'm', sendsPlainReasoning: provider === 'openai-compatible' };
    const requests = talk.map((_, turn) => toPrompt({ system: 's', messages: talk.slice(0, turn + 1).flat() }, wire));
    for (const [turn, request] of requests.entries()) {
      const last = requests[turn - 1] ?? [];
      assert.deepEqual(request.slice(0, last.length), last, `${provider}, request ${turn}`);
    }
  }
});

test('images that tools have read follow the results of their turn, and never change place', () => {
  const image = (id: string) => ({
    ...{ attachment_id: id, filename: `${id}.png`, mime_type: 'image/png', size_bytes: 3, kind: 'image' as const },
  });
  const result = (callId: string, more: object = {}): Message => ({
    ...{ role: 'tool', callId, name: 'read_file', output: callId, outcome: 'done', ...more },
  });
  const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'read_file', arguments: '{}' }));
  const messages: Message[] = [
    { role: 'assistant', content: '', toolCalls: calls },
    result('c', { attachments: [image('third')], unseen: 'all' }),
    result('a', { attachments: [image('first')] }),
    result('b'),
  ];
  const contents = new Map([['first', { kind: 'image' as const, bytes: Buffer.from('png') }]]);
  const attaching = { contents, keepsBack: () => undefined };
  const prompt = (more: Message[]) => toPrompt({ system: '', messages: [...messages, ...more], attaching }, to);
  const [, results, images] = prompt([]);
  assert.deepEqual(
    results?.role === 'tool' && results.content.map((part) => part.type === 'tool-result' && part.toolCallId),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(images, {
    role: 'user',
    content: [
      { type: 'text', text: '[The image "first.png" (image/png, 3 bytes) that read_file has read:]' },
      { type: 'file', filename: 'first.png', mediaType: 'image/png', data: { type: 'data', data: Buffer.from('png') } },
      {
        type: 'text',
        text: '[The image "third.png" (image/png, 3 bytes) that read_file has read:]\n\n[read_file has read "third.png" (image/png, 3 bytes). It is no longer shown to you, to make room for newer files.]',
      },
    ],
  });
  assert.deepEqual(prompt([{ role: 'assistant', content: 'Seen.', toolCalls: [] }]).slice(0, 3), prompt([]));
});

test('a model that does not accept images reads why', () => {
  const attachments = [
    { attachment_id: 'x', filename: 'x.png', mime_type: 'image/png', size_bytes: 3, kind: 'image' as const },
  ];
  const message: Message = {
    ...{ role: 'tool', callId: 'a', name: 'read_file', output: '', outcome: 'done', attachments },
  };
  const contents = new Map([['x', { kind: 'image' as const, bytes: Buffer.from('png') }]]);
  const attaching = { contents, keepsBack: () => 'this model does not accept images' };
  const [, told] = toPrompt({ system: '', messages: [message], attaching }, to);
  assert.match(
    JSON.stringify(told),
    /\[read_file has read \\"x.png\\" \(image\/png, 3 bytes\), which is not shown to you: this model does not accept images\.\]/,
  );
});

test('two answers in a row are separated, as many servers require', () => {
  const said = (content: string): AssistantMessage => ({ role: 'assistant', content, toolCalls: [] });
  const messages: Message[] = [{ role: 'user', content: 'hi' }, said('one'), said(''), said('two'), said('three')];
  const prompt = toPrompt({ system: '', messages }, to);
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
  );
  assert.deepEqual(prompt[2]?.content, [{ type: 'text', text: NOT_KEPT }]);
  assert.deepEqual(toPrompt({ system: '', messages: messages.slice(0, 4) }, to), prompt.slice(0, 4));
});
