import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../src/agent/message.ts';
import { live, modelOf, read, request } from '../support/model/model-under-test.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, finishWith, raw, say, stall, think, useTokens } from '../support/model/scripted-steps.ts';

test('reasoning, content, parallel tool calls and usage arrive in order', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script([
    think('hm', 'm'),
    say('Let me ', 'look.'),
    callTools(
      { name: 'read_file', arguments: { path: 'a/long/path.ts' } },
      { name: 'bash', arguments: '{"command": oops' },
    ),
    useTokens({ prompt: 100, completion: 20, cached: 64 }),
  ]);
  assert.deepEqual(await read(model.stream(request(), live())), [
    { type: 'reasoning', text: 'hmm' },
    { type: 'content', text: 'Let me look.' },
    { type: 'tool_call', call: { id: 'call_0', name: 'read_file', arguments: '{"path":"a/long/path.ts"}' } },
    { type: 'tool_call', call: { id: 'call_1', name: 'bash', arguments: '{"command": oops' } },
    {
      type: 'finish',
      reason: 'tool_calls',
      usage: { promptTokens: 100, completionTokens: 20, cacheCreationTokens: 0, cacheReadTokens: 64 },
    },
  ]);
});

test('name and context window come from the server', async () => {
  await using upstream = await startScriptedModel({ modelId: 'qwen3', contextWindow: 40_960 });
  const { models, model } = await modelOf(upstream);
  assert.deepEqual(
    { id: model.modelId, window: model.contextWindow, current: models.current() },
    {
      id: 'qwen3',
      window: 40_960,
      current: { alias: 'openai-compatible', provider: 'openai-compatible', modelId: 'qwen3' },
    },
  );
});

test('the stored conversation is sent back in a form that servers accept', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script(say('ok'));
  const messages: Message[] = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'old', reasoning: 'dropped', toolCalls: [] },
    { role: 'user', content: 'two' },
    { role: 'user', content: 'three' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'kept',
      toolCalls: [
        { id: 'a', name: 'bash', arguments: '{"command": "ls"}' },
        { id: 'b', name: 'bash', arguments: '{"command": oops' },
      ],
    },
    { role: 'tool', callId: 'a', name: 'bash', output: 'x', outcome: 'done' },
    { role: 'tool', callId: 'b', name: 'bash', output: 'JSON parse error', outcome: 'failed' },
    { role: 'assistant', content: '', toolCalls: [], partial: true },
  ];
  const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } }];
  await read(model.stream(request(messages, { tools, effort: 'high', temperature: 0.5, maxOutputTokens: 7 }), live()));
  const call = (id: string, text: string) => ({ id, type: 'function', function: { name: 'bash', arguments: text } });
  assert.deepEqual(upstream.requests[0]?.body, {
    model: 'scripted',
    max_tokens: 7,
    temperature: 0.5,
    reasoning_effort: 'high',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'old' },
      { role: 'user', content: 'two\n\nthree' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'kept',
        tool_calls: [call('a', '{"command": "ls"}'), call('b', '{"malformed_arguments":"{\\"command\\": oops"}')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'tool', tool_call_id: 'b', content: 'JSON parse error' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } },
      },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('a truncated answer ends with the reason length', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script([say('half'), finishWith('length')]);
  const finish = (await read(model.stream(request(), live()))).at(-1);
  assert.equal(finish?.type === 'finish' && finish.reason, 'length');
});

test('characters split over several chunks stay whole', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  const line = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '→😀é' } }] })}\n\n`);
  upstream.script([...line].map((byte) => raw(Uint8Array.of(byte))));
  const parts = await read(model.stream(request(), live()));
  assert.deepEqual(parts[0], { type: 'content', text: '→😀é' });
});

test('aborting during the stream closes the upstream socket and throws the reason', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  const hold = stall();
  upstream.script([say('a'), hold]);
  const abort = new AbortController();
  const parts = model.stream(request(), abort.signal)[Symbol.asyncIterator]();
  assert.deepEqual((await parts.next()).value, { type: 'content', text: 'a' });
  const next = parts.next();
  abort.abort(new Error('cancelled by a test'));
  await assert.rejects(next, { message: 'cancelled by a test' });
  assert.deepEqual(await (await upstream.request(0)).closed, { whole: false });
});

test('aborting before the headers closes the upstream socket too', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  const hold = stall();
  upstream.script([hold]);
  const abort = new AbortController();
  const next = model.stream(request(), abort.signal)[Symbol.asyncIterator]().next();
  await hold.reached;
  abort.abort(new Error('cancelled'));
  await assert.rejects(next, { message: 'cancelled' });
  assert.deepEqual(await (await upstream.request(0)).closed, { whole: false });
});

test('leaving the iteration closes the upstream socket', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script([say('a'), stall()]);
  for await (const _ of model.stream(request(), live())) break;
  assert.deepEqual(await (await upstream.request(0)).closed, { whole: false });
});
