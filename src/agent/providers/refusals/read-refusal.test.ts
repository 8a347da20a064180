import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRefusal } from './read-refusal.ts';

for (const [maker, text, numbers] of [
  [
    'OpenAI',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens. Please reduce the length of the messages.",
    { maximum: 128_000, asked: 150_123 },
  ],
  [
    'OpenAI, Responses',
    'Your input exceeds the context window of this model. Please adjust your input and try again. {"code":"context_length_exceeded"}',
    {},
  ],
  ['Anthropic', 'prompt is too long: 205000 tokens > 200000 maximum', { maximum: 200_000, asked: 205_000 }],
  [
    'Anthropic, with the answer',
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    { maximum: 200_000, asked: 188_240 },
  ],
  [
    'Google',
    'The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).',
    { maximum: 1_048_576, asked: 1_234_567 },
  ],
  [
    'vLLM',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    { maximum: 8_192, asked: 9_000 },
  ],
  [
    'vLLM, about the answer',
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    { maximum: 4_096, asked: 2_104 },
  ],
  [
    'llama.cpp',
    '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9017,"n_ctx":8192}}',
    { maximum: 8_192, asked: 9_017 },
  ],
  [
    'llama.cpp, in words',
    'request (9017 tokens) exceeds the available context size (8192 tokens), try increasing it',
    { maximum: 8_192, asked: 9_017 },
  ],
  ['Ollama', 'the input length exceeds the context length', {}],
  [
    'LM Studio',
    'Trying to keep the first 5241 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    { maximum: 4_096 },
  ],
  [
    'Mistral',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    { maximum: 32_768, asked: 40_000 },
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens (1228206 of text input, 65535 in the output).",
    { maximum: 1_048_576, asked: 1_293_741 },
  ],
  [
    'xAI',
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    { maximum: 131_072, asked: 150_000 },
  ],
  ['Bedrock', 'Input is too long for requested model.', {}],
  ['a gateway', 'maximum context length is 8,192 tokens', { maximum: 8_192 }],
] as const) {
  test(`the refusal of a long request by ${maker} is understood`, () => {
    assert.deepEqual(readRefusal(text), { about: 'window', ...numbers });
  });
}

for (const [about, text] of [
  ['binding', 'messages.3.content.0: The block is bound to a different conversation'],
  ['binding', 'messages.1.content.0.type: Expected `thinking`, but found `tool_use`'],
  ['binding', 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
  ['schema', "Invalid schema for function 'bash': schema must be a JSON Schema of 'type: \"object\"'"],
  ['schema', 'tools.0.custom.input_schema: JSON schema is invalid'],
  ['schema', "Unsupported parameter: 'temperature' is not supported with this model."],
  ['image', 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
  ['image', 'Could not process image'],
  ['image', 'invalid_image_format: unsupported image'],
  ['image', 'Unknown content type image_url'],
  ['image', 'The image data you provided does not represent a valid image.'],
] as const) {
  test(`a refusal because of ${about} is understood: ${text.slice(0, 40)}`, () => {
    assert.deepEqual(readRefusal(text), { about });
  });
}

test('other refusals are left open', () => {
  assert.equal(readRefusal('messages: roles must alternate between "user" and "assistant"'), undefined);
  assert.equal(readRefusal('The model `gpt-9` does not exist'), undefined);
  assert.equal(readRefusal('The deployment is not provisioned for this revision'), undefined);
  assert.equal(readRefusal(''), undefined);
});

test('numbers that no window has are left out', () => {
  const text = `This model's maximum context length is ${'9'.repeat(400)} tokens.`;
  assert.deepEqual(readRefusal(text), { about: 'window' });
});
