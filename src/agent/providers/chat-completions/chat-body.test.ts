import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { createChatBodies } from './chat-body.ts';

const sdk = new OpenAICompatibleChatLanguageModel('m', { provider: 'openaiCompatible.chat', url: () => 'http://x' });

/** Bodies whose content is compared with the SDK's, and how many messages of the last one were converted. */
function open() {
  let converted = 0;
  const bodies = createChatBodies({
    async toBody(options) {
      converted += options.prompt.length;
      return (await sdk.prepareRequest(options)).body;
    },
    stringify: (value) => JSON.stringify(value),
  });
  return async (prompt: LanguageModelV4Prompt, conversation?: object): Promise<number> => {
    converted = 0;
    const built = Buffer.from(await bodies.build({ prompt, temperature: 0.5 }, conversation)).toString();
    const { body } = await sdk.prepareRequest({ prompt, temperature: 0.5 });
    const expected = { ...body, stream: true, stream_options: { include_usage: true } };
    assert.deepEqual(JSON.parse(built), JSON.parse(JSON.stringify(expected)));
    return converted;
  };
}

const says = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] });
const answers = (text: string): LanguageModelV4Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const shows = (bytes: readonly number[]): LanguageModelV4Message => ({
  role: 'user',
  content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: Uint8Array.from(bytes) } }],
});
const calls = (id: string, input: string): LanguageModelV4Message => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: 'bash', input }],
});
const gives = (...values: string[]): LanguageModelV4Message => ({
  role: 'tool',
  content: values.map((value) => ({
    type: 'tool-result',
    toolCallId: value,
    toolName: 'bash',
    output: { type: 'text', value },
  })),
});

test('only what the last request of a conversation did not send is converted', async () => {
  const build = open();
  const conversation = {};
  const first = [says('one'), answers('two ✔'), says('three')];
  assert.equal(await build(first, conversation), 3);
  assert.equal(await build([...first, calls('a', '{}')], conversation), 2, 'the last message could have grown');
  assert.equal(await build([...first, calls('a', '{}'), gives('x', 'y'), answers('four')], conversation), 3);
});

test('a message that grew, and a beginning that changed, are sent as they are now', async () => {
  const build = open();
  const conversation = {};
  const first = [says('one'), answers('two'), shows([1, 2]), answers('three')];
  await build(first, conversation);
  await build([...first.slice(0, 3), gives('x')], conversation);
  await build([...first.slice(0, 3), gives('x', 'y')], conversation);
  assert.equal(await build([...first, says('four')], conversation), 2);
  assert.equal(await build([says('one'), answers('two'), shows([1, 3]), says('four')], conversation), 4);
  assert.equal(await build([says('ONE'), answers('two'), shows([1, 3]), says('four')], conversation), 4);
  assert.equal(await build([says('ONE')], conversation), 1, 'taken back');
  await build([], conversation);
  await build([says('ONE'), says('five')], conversation);
});

test('conversations with the same texts do not disturb each other, and a request without one keeps nothing', async () => {
  const build = open();
  const [here, there] = [{}, {}];
  const prompt = [says('one'), answers('two'), says('three')];
  assert.equal(await build(prompt, here), 3);
  assert.equal(await build(prompt, there), 3);
  assert.equal(await build([...prompt, answers('four')], here), 2);
  assert.equal(await build(prompt), 3);
  assert.equal(await build(prompt), 3);
});

const message = fc.oneof(
  fc.constantFrom('a', 'b', '', 'é"\\\n✔').map(says),
  fc.constantFrom('a', 'b').map(answers),
  fc.constantFrom([1], [2]).map(shows),
  fc.constantFrom('{}', '{"a":1}', 'no JSON').map((input) => calls('id', input)),
  fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 2 }).map((values) => gives(...values)),
);
const step = fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }), more: fc.array(message, { maxLength: 4 }) });

test('any order of requests, longer and shorter ones, sends what the SDK would', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const build = open();
      const conversation = {};
      let prompt: LanguageModelV4Prompt = [];
      for (const { keep, more } of steps) {
        prompt = [...prompt.slice(0, Math.round(prompt.length * keep)), ...more];
        await build(structuredClone(prompt), conversation);
      }
    }),
    { numRuns: 100 },
  );
});
