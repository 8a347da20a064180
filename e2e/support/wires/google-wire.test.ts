import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callSeal } from './google-answer.ts';
import { googleWire } from './google-wire.ts';
import { LONG, PIXEL, testRules } from './rules-fixture.ts';
import { checkRequest } from './wire.ts';

const LOOK = { name: 'look', description: 'Looks.', parametersJsonSchema: { type: 'object', properties: {} } };
const tools = (...functions: object[]) => ({ tools: [{ functionDeclarations: functions }] });
const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const text = (words: string) => ({ text: words });
const call = (path: string, args: unknown = { path }) => ({ functionCall: { name: 'look', args } });
const signed = (path: string) => ({ ...call(path), thoughtSignature: callSeal({ name: 'look', args: { path } }) });
const response = { functionResponse: { name: 'look', response: { content: 'seen' } } };
const other = { functionResponse: { name: 'touch', response: { content: 'seen' } } };
const image = { inlineData: { mimeType: 'image/png', data: PIXEL } };
const ASKED = user(text('look around'));
const GOOD = {
  model: 'gemini-3.8-flash',
  systemInstruction: { parts: [text('Be brief.')] },
  ...tools(LOOK),
  contents: [
    ASKED,
    model(signed('a'), call('b')),
    user(response, response),
    model(text('done')),
    user(text('on'), image),
  ],
};
const contents = (...list: object[]) => ({ contents: list });
const UNEQUAL =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';

testRules(googleWire, {
  good: GOOD,
  toBody: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  bad: {
    shape: {
      change: contents({ role: 'tool', parts: [] }),
      says: 'contents.0.role: Invalid option: expected one of "user"|"model"',
    },
    alternation: {
      change: contents(ASKED, ASKED),
      says: 'Please ensure that multiturn requests alternate between user and model.',
    },
    pairing: { change: contents(ASKED, model(signed('a'), call('b')), user(response)), says: UNEQUAL },
    order: { change: contents(ASKED, model(signed('a')), user(other)), says: UNEQUAL },
    empty: {
      change: contents(ASKED, model(), ASKED),
      says: '* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.',
    },
    arguments: {
      change: contents(ASKED, model({ ...signed('a'), ...call('a', 'x') }), user(response)),
      says: "Invalid value at 'contents.parts.function_call.args' (type.googleapis.com/google.protobuf.Struct)",
    },
    images: {
      change: contents(user(image, image, image)),
      says: 'Please reduce the number of images: 3 exceeds the limit of 2.',
    },
    window: {
      change: contents(user(text(LONG))),
      says: 'The input token count (2567) exceeds the maximum number of tokens allowed (2000).',
    },
    'tool-names': { change: tools(LOOK, LOOK), says: 'Duplicate function declaration found: look' },
    'tool-schema': {
      change: tools({ ...LOOK, parametersJsonSchema: {} }),
      says: '* GenerateContentRequest.tools[0].function_declarations[0].parameters_json_schema: should be of type OBJECT',
    },
    signatures: {
      change: contents(ASKED, model({ ...call('b'), thoughtSignature: 'forged' }), user(response)),
      says: 'Corrupted thought signature.',
    },
    reasoning: {
      change: contents(ASKED, model(call('a')), user(response)),
      says: 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:look` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
    },
  },
});

test('the documented sentinel stands for the signature of a call that another model made', () => {
  const sentinel = { ...call('a'), thoughtSignature: 'skip_thought_signature_validator' };
  const body = { ...GOOD, ...contents(ASKED, model(sentinel), user(response)) };
  assert.deepEqual(checkRequest(googleWire, body, { window: 2_000, images: 2 }), body);
});
