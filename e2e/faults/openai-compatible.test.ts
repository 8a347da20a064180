import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warn } from '../../protocol/notice.ts';
import { streamAiSdk } from '../../src/agent/providers/ai-sdk/ai-sdk.ts';
import { type ModelPart, type Pause, ProviderError } from '../../src/agent/providers/model.ts';
import { openaiCompatible } from '../../src/agent/providers/openai-compatible.ts';
import { systemClock } from '../../src/clock.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { egress, impatientClock, live, modelOf, read, request } from '../support/model/model-under-test.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import {
  errorChunk,
  fail,
  garbled,
  hangUp,
  headers,
  raw,
  reset,
  say,
  stall,
  truncated,
} from '../support/model/scripted-steps.ts';

test('a 429 is retried after the time the server gives', async () => {
  await using upstream = await startScriptedModel();
  const clock = impatientClock();
  const { model } = await modelOf(upstream, { clock });
  upstream.script(fail(429, { retryAfterSecs: 3 }), fail(500), say('at last'));
  const parts = model.stream(request(), live())[Symbol.asyncIterator]();
  assert.deepEqual((await parts.next()).value, { type: 'content', text: 'at last' });
  assert.deepEqual(clock.slept.slice(-2), [3_000, 1_000]);
  await parts.return?.();
});

test('the third failure is final', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script(fail(500), fail(503), fail(500, { message: 'out of memory' }), say('too late'));
  await assert.rejects(read(model.stream(request(), live())), { kind: 'unreachable', message: /500: out of memory/ });
  assert.equal(upstream.requests.length, 3);
});

test('a request is retried if the connection breaks before the first chunk', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  upstream.script([headers(), reset()], hangUp(), [say('whole')]);
  assert.equal((await read(model.stream(request(), live()))).length, 2);
});

test('a request is not retried if the connection breaks after the first chunk', async () => {
  await using upstream = await startScriptedModel();
  const { model } = await modelOf(upstream);
  const hold = stall();
  upstream.script([say('half'), hold, reset()], [say('never sent')]);
  const parts = model.stream(request(), live())[Symbol.asyncIterator]();
  assert.deepEqual((await parts.next()).value, { type: 'content', text: 'half' });
  hold.release();
  await assert.rejects(parts.next(), { kind: 'interrupted' });
  assert.equal(upstream.requests.length, 1);
});

for (const [what, step, kind] of [
  ['a garbled chunk', garbled(), 'interrupted'],
  ['a truncated chunk', truncated(), 'interrupted'],
  ['an end without finish reason', hangUp(), 'interrupted'],
  ['an error inside the stream', errorChunk('the engine died'), 'interrupted'],
  ['an overload inside the stream', errorChunk('slow down', 429), 'rate_limited'],
] as const) {
  test(`${what} ends the answer as ${kind}, and the text before it stays`, async () => {
    await using upstream = await startScriptedModel();
    const { model } = await modelOf(upstream);
    upstream.script([say('kept'), step]);
    const parts: ModelPart[] = [];
    await assert.rejects(
      async () => {
        for await (const part of model.stream(request(), live())) parts.push(part);
      },
      { name: 'ProviderError', kind },
    );
    assert.deepEqual(parts, [{ type: 'content', text: 'kept' }]);
  });
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });

/** The parts of a whole stream; a cut stream gives the first of them. */
const STREAMS = {
  text: {
    chunks: [chunk({ content: 'né' }), chunk({ content: '→' }, 'stop'), 'data: [DONE]\n\n'],
    parts: ['né', '→', ' stop'],
  },
  'reasoning, text and calls': {
    chunks: [
      chunk({ reasoning_content: '思考' }),
      chunk({ content: 'ok 👍' }),
      call(0, { id: 'a', function: { name: 'read_file', arguments: '{"path":' } }),
      call(0, { function: { arguments: '"ü.txt"}' } }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    parts: ['(思考)', 'ok 👍', ' tool_calls read_file {"path":"ü.txt"}'],
  },
};

for (const [name, { chunks, parts }] of Object.entries(STREAMS)) {
  test(`${name}: an answer cut at any byte is either incomplete or whole, never wrong`, async () => {
    await using upstream = await startScriptedModel();
    const whole = Buffer.from(chunks.join(''));
    const kind = openaiCompatible;
    const model = await kind.open({ modelId: 'scripted', baseUrl: upstream.url, ...egress, clock: systemClock });
    const about = { provider: 'openai-compatible', baseUrl: upstream.url, keyName: '' };
    const around = {
      clock: systemClock,
      signal: live(),
      deadlines: { firstMs: 60_000, betweenMs: 60_000 },
      onPart: () => undefined,
    };
    const cut = { bytes: 0, after: hangUp() };
    upstream.onRequest(() => [headers(), raw(whole.subarray(0, cut.bytes)), cut.after]);
    const seen = { ended: new Set<string>(), reset: new Set<string>() };
    for (cut.bytes = 0; cut.bytes < whole.length; cut.bytes++) {
      for (const how of ['ended', 'reset'] as const) {
        cut.after = how === 'ended' ? hangUp() : reset();
        seen[how].add(await outcomeOf(streamAiSdk({ model, kind, upstream: about }, request(), around)));
      }
    }
    const possible = parts.map((_, told) => [...parts.slice(0, told), ' interrupted'].join(''));
    possible.push(parts.join(''));
    const impossible = [...seen.ended, ...seen.reset].filter((outcome) => !possible.includes(outcome));
    assert.deepEqual(impossible, []);
    // After a reset the network may drop the bytes before it; a proper end delivers all of them.
    assert.deepEqual([[...seen.ended].at(0), [...seen.ended].at(-1)], [possible.at(0), possible.at(-1)]);
  });
}

/** The received parts and the end. Calls count only in a complete answer, because otherwise none runs. */
async function outcomeOf(parts: AsyncIterable<ModelPart>): Promise<string> {
  const told: string[] = [];
  const calls: string[] = [];
  try {
    for await (const part of parts) {
      if (part.type === 'tool_call') calls.push(`${part.call.name} ${part.call.arguments}`);
      else if (part.type === 'finish') told.push(` ${[part.reason, ...calls].join(' ')}`);
      else told.push(part.type === 'reasoning' ? `(${part.text})` : part.text);
    }
  } catch (error) {
    told.push(` ${error instanceof ProviderError ? error.kind : String(error)}`);
  }
  return told.join('');
}

for (const [what, steps, silentMs] of [
  ['before its headers', [], 300_000],
  ['after its headers', [headers()], 300_000],
  ['in mid-stream', [say('a')], 60_000],
] as const) {
  test(`a server that falls silent ${what} causes a timeout after ${silentMs / 1000} s`, async () => {
    await using upstream = await startScriptedModel();
    const clock = fakeClock();
    const { model } = await modelOf(upstream, { clock });
    const hold = stall();
    upstream.script([...steps, hold]);
    const parts = model.stream(request(), live())[Symbol.asyncIterator]();
    if (steps.length === 1 && silentMs === 60_000) await parts.next();
    const next = parts.next();
    const rejected = assert.rejects(next, { kind: 'timeout', message: new RegExp(`silent for ${silentMs / 1000} s`) });
    await hold.reached;
    await clock.advance(silentMs - 1);
    assert.equal(await Promise.race([next, Promise.resolve('still waiting')]), 'still waiting');
    await clock.advance(1);
    await rejected;
    assert.deepEqual(await (await upstream.request(0)).closed, { whole: false });
  });
}

test('the error for a refused key names provider and variable, never the key, and the request is not retried', async () => {
  await using upstream = await startScriptedModel({ key: 'right' });
  const { models, model } = await modelOf(upstream, { key: 'wrong-key' });
  const expected = `openai-compatible at ${upstream.url} rejected the key from OPENAI_API_KEY (401).`;
  await assert.rejects(read(model.stream(request(), live())), { kind: 'unauthorized', message: expected });
  assert.deepEqual(
    { notices: models.notices(), health: models.health() },
    {
      notices: [warn('model_key_refused', expected)],
      health: { status: 'up', circuitState: 'closed' },
    },
  );
});

test('a server that requires a key gets the key from the environment', async () => {
  await using upstream = await startScriptedModel({ key: 'right' });
  const { model } = await modelOf(upstream, { key: 'right' });
  upstream.script(say('ok'));
  assert.deepEqual((await read(model.stream(request(), live())))[0], { type: 'content', text: 'ok' });
});

test('five failed answers open the circuit, and the sixth request is not sent', async () => {
  await using upstream = await startScriptedModel();
  const { models, model } = await modelOf(upstream);
  upstream.onRequest(() => fail(500));
  for (let n = 0; n < 5; n++) await assert.rejects(read(model.stream(request(), live())), { kind: 'unreachable' });
  assert.deepEqual(models.health(), { status: 'down', circuitState: 'open' });
  const paused = Promise.withResolvers<ProviderError>();
  const wait = ({ error }: Pause) => {
    paused.resolve(error);
    return Promise.reject(new Error('waited'));
  };
  await assert.rejects(read(model.stream(request(), live(), { hasFallback: false, wait })), { message: 'waited' });
  const { kind, message } = await paused.promise;
  const why = `openai-compatible at ${upstream.url} answered 500: scripted 500`;
  assert.deepEqual(
    [kind, message],
    [
      'circuit_open',
      `openai-compatible at ${upstream.url} is not asked at the moment, because several requests in a row failed. The last one: ${why}`,
    ],
  );
  assert.equal(upstream.requests.length, 15);
});
