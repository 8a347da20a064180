import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from './fake-client.ts';
import { createModelChoices, toChoices } from './model-choices.ts';

const row = (id: string, more: object = {}) => ({ id, name: id, provider: 'openai-compatible', ...more });

test('a choice shows the name, the alias if it says more, and the window', () => {
  const rows = [
    row('fast', { name: 'qwen3', contextWindow: 32_768 }),
    row('demo'),
    row('openai/gpt', { name: 'gpt' }),
    row('new', { name: '' }),
  ];
  const words = toChoices(rows, { alias: 'demo', name: 'demo' }).map((choice) => choice.words);
  assert.deepEqual(words, ['qwen3 (fast) · 33k', 'demo', 'openai/gpt', 'new']);
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
