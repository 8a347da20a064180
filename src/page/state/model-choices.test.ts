import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from './fake-client.ts';
import { createModelChoices, priceTitle, toChoices } from './model-choices.ts';

const row = (id: string, more: object = {}) => ({ id, name: id, provider: 'openai-compatible', ...more });

test('a choice shows the name, the alias if it says more, the window and the price', () => {
  const rows = [
    row('fast', { name: 'qwen3', contextWindow: 32_768, price: { input: 0.2, output: 1.5, source: 'config.json' } }),
    row('demo'),
    row('openai/gpt', { name: 'gpt' }),
    row('new', { name: '' }),
  ];
  const words = toChoices(rows, { alias: 'demo', name: 'demo' }).map((choice) => choice.words);
  assert.deepEqual(words, ['qwen3 (fast) · 33k · $0.2 in, $1.5 out', 'demo', 'openai/gpt', 'new']);
});

test('the title of the list says the price of the chosen model, and where it is from', () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, source: 'https://example.com/prices', asOf: '2026-11-01' };
  const rows = [row('dear', { price }), row('own')];
  assert.deepEqual(
    ['dear', 'own', 'gone'].map((alias) => priceTitle(rows, alias)),
    [
      ' It costs $3 in, $15 out, $0.3 from the cache per million tokens (https://example.com/prices, read on 2026-11-01).',
      '',
      '',
    ],
  );
});

test('a model that is no longer in the list stays visible as long as it is the chosen one', () => {
  const choices = toChoices([row('demo')], { alias: 'gone', name: 'llama' });
  assert.deepEqual(choices, [
    { alias: 'gone', words: 'llama (gone)' },
    { alias: 'demo', words: 'demo' },
  ]);
});

test('a failed request keeps the models that were known', async () => {
  const { client, answer } = createFakeClient();
  const models = createModelChoices(client);
  const answers = [{ models: [row('demo')] }];
  answer('models.list', () => {
    const next = answers.pop();
    if (!next) throw new Error('lost');
    return next;
  });
  await models.refresh();
  await models.refresh();
  assert.deepEqual(
    models.rows.value.map(({ id }) => id),
    ['demo'],
  );
});

test('the list that was asked for last stays, also if an earlier one comes later', async () => {
  const { client, answer } = createFakeClient();
  const early = Promise.withResolvers<object>();
  const lists = [early.promise, { models: [row('new')] }];
  answer('models.list', () => lists.shift());
  const choices = createModelChoices(client);
  const first = choices.refresh();
  await choices.refresh();
  early.resolve({ models: [row('old')] });
  await first;
  assert.deepEqual(choices.rows.value, [row('new')]);
});
