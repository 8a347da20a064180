import { createChatWire } from './chat-wire.ts';
import { type BadRequest, LONG, PIXEL, testRules } from './rules-fixture.ts';
import type { Rule } from './wire.ts';

const LOOK = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
const tools = (...functions: object[]) => ({ tools: functions.map((one) => ({ type: 'function', function: one })) });
const system = { role: 'system', content: 'Be brief.' };
const user = (content: unknown) => ({ role: 'user', content });
const said = (content: string, more: object = {}) => ({ role: 'assistant', content, ...more });
const call = (id: string, args = '{}') => ({ id, type: 'function', function: { name: 'look', arguments: args } });
const thought = { reasoning_content: 'I look.' };
const calls = (...list: object[]) => ({ role: 'assistant', content: null, tool_calls: list, ...thought });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'seen' });
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
const ASKED = [system, user('look around')];
const BOTH = [...ASKED, calls(call('a'), call('b'))];
const GOOD = {
  model: 'm',
  ...tools(LOOK),
  messages: [...BOTH, result('a'), result('b'), said('done', thought), user([{ type: 'text', text: 'on' }, image])],
};
const messages = (...list: object[]) => ({ messages: list });

const BAD: Partial<Record<Rule, BadRequest>> = {
  shape: {
    change: messages({ role: 'developer', content: 'x' }),
    says: "messages.0.role: Invalid discriminator value. Expected 'system' | 'user' | 'assistant' | 'tool'",
  },
  alternation: {
    change: messages(...ASKED, user('again')),
    says: 'Conversation roles must alternate user/assistant/user/assistant/...',
  },
  pairing: {
    change: messages(...BOTH, result('a')),
    says: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
  },
  order: {
    change: messages(...BOTH, result('b'), result('a')),
    says: 'The tool messages must be in the order of the tool calls that they respond to.',
  },
  empty: {
    change: messages(...ASKED, said(''), user('on')),
    says: 'Invalid assistant message: content or tool_calls must be set',
  },
  arguments: {
    change: messages(...ASKED, calls(call('a', '[]')), result('a')),
    says: 'Can only get item pairs from a mapping.',
  },
  images: {
    change: messages(user([image, image, image])),
    says: 'At most 2 image(s) may be provided in one prompt.',
  },
  window: {
    change: messages(user(LONG)),
    says: "This model's maximum context length is 2000 tokens. However, your request has 2546 input tokens. Please reduce the length of the input messages.",
  },
  'tool-names': { change: tools(LOOK, LOOK), says: 'Tool names must be unique: look appears twice.' },
  'tool-schema': {
    change: tools({ ...LOOK, parameters: {} }),
    says: `Invalid schema for function 'look': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
  },
};

/** Words of rules that have a code of their own. */
const codeOf = (message: string) =>
  message.startsWith('Invalid schema') ? 'invalid_function_parameters' : 'invalid_request_error';
const toBody = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: codeOf(message) },
});

testRules(createChatWire({ thinksAloud: false }), { good: GOOD, bad: BAD, toBody });

const missing = { ...calls(call('a')), reasoning_content: undefined };
const withReasoning = {
  ...BAD,
  reasoning: {
    change: messages(...ASKED, missing, result('a')),
    says: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
  },
};
testRules(createChatWire({ thinksAloud: true }), { good: GOOD, bad: withReasoning, toBody });
