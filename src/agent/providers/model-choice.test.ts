import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseDefault, chooseModel, chooseUnnamed, listChoices } from './model-choice.ts';
import { ModelsConfig } from './models-config.ts';

const LOCAL = 'http://localhost:11434/v1';

test('without any configuration there is no model', () => {
  assert.equal(chooseDefault({ config: {}, environment: {} }), undefined);
});

for (const [what, environment, alias] of [
  [
    'OPENAI_BASE_URL',
    { OPENAI_BASE_URL: 'http://h/v1', ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' },
    'openai-compatible',
  ],
  ['a local server', {}, 'openai-compatible'],
  [
    'ANTHROPIC_API_KEY',
    { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', GOOGLE_GENERATIVE_AI_API_KEY: 'g' },
    'anthropic/claude-sonnet-5-5',
  ],
  ['OPENAI_API_KEY', { OPENAI_API_KEY: 'o', GOOGLE_GENERATIVE_AI_API_KEY: 'g' }, 'openai/gpt-6.1-terra'],
  [
    'GOOGLE_GENERATIVE_AI_API_KEY',
    { GOOGLE_GENERATIVE_AI_API_KEY: 'g', OPENAI_API_KEY: '' },
    'google/gemini-3.8-flash',
  ],
] as const) {
  test(`${what} decides when no model is requested`, () => {
    const localUrl = what === 'a local server' ? LOCAL : undefined;
    assert.equal(chooseDefault({ config: {}, environment, localUrl })?.alias, alias);
  });
}

test('the requested model overrides config.json, which overrides the environment', () => {
  const config = ModelsConfig.parse({
    models: { a: { provider: 'openai' }, b: { provider: 'google' } },
    defaultModel: 'b',
  });
  const environment = { ANTHROPIC_API_KEY: 'a' };
  const { defaultModel: _, ...without } = config;
  assert.deepEqual(
    [
      chooseDefault({ config, environment, wanted: 'anthropic/claude-opus-5-5' })?.modelId,
      chooseDefault({ config, environment })?.alias,
      chooseDefault({ config: without, environment })?.alias,
    ],
    ['claude-opus-5-5', 'b', 'a'],
  );
});

test('provider/model keeps slashes of the model', () => {
  const environment = { OPENAI_BASE_URL: 'http://h/v1/', OPENAI_API_KEY: 'key' };
  assert.deepEqual(chooseModel('openai-compatible/Qwen/Qwen3', { config: {}, environment }), {
    alias: 'openai-compatible/Qwen/Qwen3',
    provider: 'openai-compatible',
    modelId: 'Qwen/Qwen3',
    baseUrl: 'http://h/v1',
    keyName: 'OPENAI_API_KEY',
    apiKey: 'key',
    settings: {},
  });
});

test('a model of config.json brings its server, key variable and limits', () => {
  const config = ModelsConfig.parse({
    models: {
      lab: {
        provider: 'openai-compatible',
        model: 'm',
        baseUrl: 'http://lab:1/v1',
        apiKeyEnv: 'LAB_KEY',
        contextWindow: 9,
        temperature: 0,
      },
    },
  });
  assert.deepEqual(chooseModel('lab', { config, environment: { LAB_KEY: 'k', OPENAI_API_KEY: 'other' } }), {
    alias: 'lab',
    provider: 'openai-compatible',
    modelId: 'm',
    baseUrl: 'http://lab:1/v1',
    keyName: 'LAB_KEY',
    apiKey: 'k',
    settings: { contextWindow: 9, temperature: 0 },
  });
});

test('a key of the environment goes only to the server it is meant for', () => {
  const config = ModelsConfig.parse({
    models: {
      other: { provider: 'openai-compatible', baseUrl: 'http://other/v1' },
      proxied: { provider: 'anthropic', baseUrl: 'http://proxy/v1' },
      held: { provider: 'openai', apiKey: 'held' },
    },
  });
  const environment = { OPENAI_BASE_URL: 'http://h/v1', OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' };
  const keyOf = (name: string, localUrl?: string) => {
    const { apiKey, keyName } = chooseModel(name, {
      config,
      environment: localUrl ? { OPENAI_API_KEY: 'o' } : environment,
      localUrl,
    });
    return [apiKey, keyName];
  };
  assert.deepEqual(
    [keyOf('other'), keyOf('proxied'), keyOf('held'), keyOf('openai-compatible'), keyOf('openai-compatible', LOCAL)],
    [
      [undefined, 'OPENAI_API_KEY'],
      [undefined, 'ANTHROPIC_API_KEY'],
      ['held', 'config.json'],
      ['o', 'OPENAI_API_KEY'],
      [undefined, 'apiKeyEnv in config.json'],
    ],
  );
});

test('an unknown name is refused with the known names', () => {
  const config = ModelsConfig.parse({ models: { fast: { provider: 'google' } } });
  for (const name of ['nope', 'nope/x', 'openai/', '__proto__', 'toString']) {
    assert.throws(() => chooseModel(name, { config, environment: { ANTHROPIC_API_KEY: 'a' } }), {
      code: 'INVALID_REQUEST',
      message: `Unknown model "${name}". Known: fast, anthropic/claude-sonnet-5-5, demo; or provider/model, where provider is one of openai-compatible, openai, anthropic, google, demo.`,
    });
  }
});

test('openai-compatible without any server is refused with what to set', () => {
  assert.throws(() => chooseModel('openai-compatible/qwen3', { config: {}, environment: {} }), {
    code: 'INVALID_REQUEST',
    message: 'Model "openai-compatible/qwen3" needs a server: set OPENAI_BASE_URL, or baseUrl in config.json.',
  });
});

test('the list has the models of config.json, then those of the environment', () => {
  const config = ModelsConfig.parse({ models: { toy: { provider: 'demo' } } });
  const environment = { OPENAI_BASE_URL: 'http://h/v1', OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' };
  assert.deepEqual(
    listChoices({ config, environment }).map(({ alias }) => alias),
    ['toy', 'openai-compatible', 'anthropic/claude-sonnet-5-5'],
  );
});

test('the key of another server is never sent to OpenAI', () => {
  const own = { OPENAI_BASE_URL: 'http://gpu.lan/v1', OPENAI_API_KEY: 'of gpu.lan' };
  const keyIn = (environment: Record<string, string>) =>
    chooseModel('openai/gpt-6', { config: {}, environment }).apiKey;
  assert.deepEqual(
    [keyIn(own), keyIn({ ...own, OPENAI_BASE_URL: 'https://api.openai.com/v1/' }), keyIn({ OPENAI_API_KEY: 'o' })],
    [undefined, 'of gpu.lan', 'o'],
  );
});

test('a model without an alias is named by its provider, and gets the key of the environment only at the usual server', () => {
  const known = { config: {}, environment: { OPENAI_API_KEY: 'o' } };
  const usual = chooseUnnamed({ provider: 'openai', model: 'gpt-mini' }, known);
  assert.deepEqual([usual.alias, usual.modelId, usual.apiKey], ['openai/gpt-mini', 'gpt-mini', 'o']);
  const elsewhere = chooseUnnamed({ provider: 'openai', baseUrl: 'http://h/v1/' }, known);
  assert.deepEqual([elsewhere.alias, elsewhere.baseUrl, elsewhere.apiKey], ['openai', 'http://h/v1', undefined]);
  assert.throws(() => chooseUnnamed({ provider: 'openai-compatible' }, known), /needs a server/);
});
