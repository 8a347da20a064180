import { encrypt } from './openai-answer.ts';
import { openaiWire } from './openai-wire.ts';
import { LONG, PIXEL, testRules } from './rules-fixture.ts';

const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
const system = { role: 'developer', content: 'Be brief.' };
const user = (...content: object[]) => ({ role: 'user', content });
const text = (words: string) => ({ type: 'input_text', text: words });
const image = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` };
const said = (words: string) => ({ role: 'assistant', content: words });
const call = (id: string, args = '{}') => ({ type: 'function_call', call_id: id, name: 'look', arguments: args });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'seen' });
const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  encrypted_content: encrypt('rs_1', 'I look.'),
  summary: [{ type: 'summary_text', text: 'I look.' }],
};
const ASKED = [system, user(text('look around'))];
const GOOD = {
  model: 'gpt-6.1-terra',
  store: false,
  tools: [LOOK],
  input: [...ASKED, reasoning, call('a'), call('b'), output('a'), output('b'), said('done'), user(text('on'), image)],
};
const input = (...items: object[]) => ({ input: items });

function fieldsOf(message: string) {
  if (message.startsWith('store')) return { param: 'input', code: 'invalid_value' };
  if (message.includes('context window')) return { param: 'input', code: 'context_length_exceeded' };
  if (message.includes('duplicate')) return { param: 'tools', code: null };
  if (message.startsWith('Invalid schema'))
    return { param: 'tools[0].parameters', code: 'invalid_function_parameters' };
  return { param: 'input', code: message.includes('encrypted') ? 'invalid_encrypted_content' : null };
}

testRules(openaiWire, {
  good: GOOD,
  toBody: (message) => ({ error: { message, type: 'invalid_request_error', ...fieldsOf(message) } }),
  bad: {
    shape: {
      change: { store: true },
      says: 'store: Invalid input: expected false',
    },
    alternation: { change: input(...ASKED, system), says: "Invalid 'input[2]': instructions stand at the beginning." },
    pairing: { change: input(...ASKED, call('a')), says: 'No tool output found for function call a.' },
    order: {
      change: input(...ASKED, call('a'), call('b'), output('b'), output('a')),
      says: 'No tool output found for function call a.',
    },
    empty: {
      change: input(user(text(''))),
      says: "Invalid 'input[0].content': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    },
    arguments: {
      change: input(...ASKED, call('a', '"x"'), output('a')),
      says: "Invalid 'input[2].arguments': expected a JSON object.",
    },
    images: {
      change: input(user(image, image, image)),
      says: 'Too many images in request: 3. The maximum is 2.',
    },
    window: {
      change: input(user(text(LONG))),
      says: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
    'tool-names': { change: { tools: [LOOK, LOOK] }, says: "Invalid 'tools': duplicate function name 'look'." },
    'tool-schema': {
      change: { tools: [{ ...LOOK, parameters: {} }] },
      says: `Invalid schema for function 'look': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
    },
    signatures: {
      change: input(...ASKED, { ...reasoning, encrypted_content: 'gAAAAAforged' }, said('done'), user(text('on'))),
      says: 'The encrypted content gAAA...rged could not be verified.',
    },
    reasoning: {
      change: input(...ASKED, reasoning, user(text('on'))),
      says: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    },
  },
});
