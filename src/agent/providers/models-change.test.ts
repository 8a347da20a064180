import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUp, URL_OF_LAB } from './models-fixture.ts';

test('a key that is configured while the daemon runs is used at once, without the problem of the former key', async () => {
  const { models, server, asked } = setUp();
  await models.start();
  const own = { provider: 'openai-compatible', baseUrl: URL_OF_LAB } as const;
  models.reconfigure({ models: { lab: { ...own, apiKey: 'wrong' } }, defaultModel: 'lab' });
  server.answers = 401;
  await models.resolve();
  assert.equal(models.notices()[0]?.code, 'model_key_refused');
  server.answers = 'models';
  asked.length = 0;
  models.reconfigure({ models: { lab: { ...own, apiKey: 'right' } }, defaultModel: 'lab' });
  assert.deepEqual(models.notices(), []);
  await models.resolve();
  assert.deepEqual([asked[0], models.current().alias], [`${URL_OF_LAB}/models Bearer right`, 'lab']);
  assert.deepEqual(
    models.list().map(({ alias }) => alias),
    ['lab'],
  );
  assert.throws(() => models.reconfigure({ models: {}, defaultModel: 'nope' }), /Unknown model/);
  assert.deepEqual(
    models.list().map(({ alias }) => alias),
    ['lab'],
  );
  models.reconfigure({});
  assert.equal(models.current().alias, 'demo');
});

test('a model is tested before it is configured, and its key is in no message', async () => {
  const { models, server, asked } = setUp();
  const candidate = { provider: 'openai-compatible', baseUrl: URL_OF_LAB, apiKey: 'sk-secret' } as const;
  const { signal } = new AbortController();
  assert.equal(await models.checkCandidate(candidate, signal), 'qwen3');
  assert.deepEqual(asked, [`${URL_OF_LAB}/models Bearer sk-secret`]);
  server.answers = 401;
  await assert.rejects(
    models.checkCandidate(candidate, signal),
    (error: Error) => !error.message.includes('sk-secret'),
  );
  await assert.rejects(models.checkCandidate({ provider: 'openai-compatible' }, signal), /needs a server/);
});
