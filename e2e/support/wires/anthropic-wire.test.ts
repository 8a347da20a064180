import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureFor, summarySeal } from './anthropic-binding.ts';
import { AnthropicBody } from './anthropic-body.ts';
import { anthropicWire } from './anthropic-wire.ts';
import { LONG, PIXEL, testRules } from './rules-fixture.ts';
import { checkRequest } from './wire.ts';

const LOOK = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } };
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const text = (words: string) => ({ type: 'text', text: words });
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'look', input });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };

const BASE = { model: 'claude-opus-5-5', max_tokens: 1_000, system: [text('Be brief.')], tools: [LOOK] };
const ASKED = [user(text('look around'))];
const thought = (before: object[], words: string, base: object = BASE) => ({
  type: 'thinking',
  thinking: words,
  signature: signatureFor(AnthropicBody.parse({ ...base, messages: before }), words),
});
const first = thought(ASKED, 'I look.');
const CALLED = [...ASKED, assistant(first, text('So.'), use('a'), use('b'))];
const GOOD = {
  ...BASE,
  messages: [
    ...CALLED,
    user(result('a'), result('b'), text('and then?')),
    assistant(text('done')),
    user(text('on'), image),
  ],
};
const messages = (...list: object[]) => ({ messages: list });
const OPEN =
  'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.';

testRules(anthropicWire, {
  good: GOOD,
  toBody: (message) => ({
    type: 'error',
    error: { type: 'invalid_request_error', message },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  }),
  bad: {
    shape: {
      change: messages({ role: 'tool', content: 'x' }),
      says: "messages.0.role: Invalid discriminator value. Expected 'user' | 'assistant'",
    },
    alternation: {
      change: messages(...ASKED, ...ASKED),
      says: 'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    },
    pairing: { change: messages(...CALLED, user(text('and?'))), says: OPEN },
    order: { change: messages(...CALLED, user(text('first'), result('a'), result('b'))), says: OPEN },
    empty: { change: messages(user(text(''))), says: 'messages: text content blocks must be non-empty' },
    arguments: {
      change: messages(...ASKED, assistant(use('a', 'x')), user(result('a'))),
      says: 'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    },
    images: {
      change: messages(user(image, image, image)),
      says: 'Too much media: 0 document pages + 3 images > 2',
    },
    window: { change: messages(user(text(LONG))), says: 'prompt is too long: 2564 tokens > 2000 maximum' },
    'tool-names': { change: { tools: [LOOK, LOOK] }, says: 'tools: Tool names must be unique.' },
    'tool-schema': {
      change: { tools: [{ ...LOOK, input_schema: {} }] },
      says: 'tools.0.custom.input_schema.type: Field required',
    },
    signatures: {
      change: messages(...ASKED, assistant({ ...first, thinking: 'I looked.' }, text('done')), ...ASKED),
      says: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    },
    binding: {
      change: messages(user(text('look about')), assistant(first, text('done')), ...ASKED),
      says: 'messages.1.content.0: The block is bound to a different conversation',
    },
    reasoning: {
      change: { thinking: { type: 'enabled' }, ...messages(...ASKED, assistant(use('a')), user(result('a'))) },
      says: 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.',
    },
  },
});

const LIMITS = { window: 2_000, images: 2 };
const moved = { ...GOOD, system: [text('Be very brief.')] };

test('a thought is bound to the system prompt, the tools and earlier messages, but not to marks for caches', () => {
  const ruleOf = (change: object) => {
    const checked = checkRequest(anthropicWire, { ...GOOD, ...change }, LIMITS);
    return 'rule' in checked ? checked.rule : 'accepted';
  };
  const marked = [{ ...text('Be brief.'), cache_control: { type: 'ephemeral' } }];
  const tools = [{ ...LOOK, description: 'Looks around.' }];
  assert.deepEqual([moved, { tools }, { system: marked }].map(ruleOf), ['binding', 'binding', 'accepted']);
});

test('thoughts that no longer fit are dropped where the request asks for it, and the answer names them', () => {
  const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  const body = AnthropicBody.parse({ ...moved, thinking });
  assert.deepEqual(checkRequest(anthropicWire, { ...moved, thinking }, LIMITS), body);
  const { events, dropped } = anthropicWire.answer(body, { text: 'ok' });
  assert.equal(dropped, 1);
  assert.match(
    events[0] ?? '',
    /"input_transformations":\[\{"type":"dropped","path":"messages.1.content.0","reason":"prefix_mismatch"\}\]/,
  );
});

test('older models bind nothing', () => {
  const older = { ...BASE, model: 'claude-opus-4-8' };
  const free = [...ASKED, assistant(thought(ASKED, 'I look.', older), text('done')), ...ASKED];
  const body = { ...older, system: [text('Be very brief.')], messages: free };
  assert.deepEqual(checkRequest(anthropicWire, body, LIMITS), AnthropicBody.parse(body));
});

test('an answer that ends with thoughts is refused', () => {
  const messages = [...ASKED, assistant(first), user(text('on'))];
  const checked = checkRequest(anthropicWire, { ...GOOD, messages }, LIMITS);
  const message = 'messages.1: The final block in an assistant message cannot be `thinking`.';
  assert.deepEqual(checked, { rule: 'reasoning', ...anthropicWire.refuse('reasoning', message) });
});

const SUMMARY = 'They looked around.';
const summary = { type: 'compaction', content: SUMMARY, signature: summarySeal(SUMMARY) };
const rulesOf = (messages: object[], more: object = {}) => {
  const checked = checkRequest(anthropicWire, { ...BASE, messages, ...more }, LIMITS);
  return 'rule' in checked ? checked.rule : 'accepted';
};

test('a summary on request is signed, and a conversation goes on from it', () => {
  const asked = { ...BASE, messages: [...ASKED, assistant(text('done'))], compaction: { type: 'summarize' } };
  const body = AnthropicBody.parse(asked);
  assert.deepEqual(checkRequest(anthropicWire, asked, LIMITS), body);
  const { events } = anthropicWire.answer(body, { text: SUMMARY });
  assert.ok(events.some((event) => event.includes(JSON.stringify(summary))));
  assert.match(events.join(''), /"stop_reason":"compaction"/);
  assert.equal(rulesOf([assistant(summary), user(text('go on'))]), 'accepted');
});

test('a summary that was altered, or that is not the first block, is refused', () => {
  assert.equal(rulesOf([assistant({ ...summary, content: 'They slept.' }), ...ASKED]), 'signatures');
  assert.equal(rulesOf([...ASKED, assistant(summary), ...ASKED]), 'signatures');
});

test('a summary is not asked for together with stops or a demanded tool, or while a call is open', () => {
  const compaction = { type: 'summarize' };
  assert.equal(rulesOf(ASKED, { compaction, stop_sequences: ['END'] }), 'shape');
  assert.equal(rulesOf(ASKED, { compaction, tool_choice: { type: 'any' } }), 'shape');
  assert.equal(rulesOf([...ASKED, assistant(use('a'))], { compaction }), 'pairing');
});
