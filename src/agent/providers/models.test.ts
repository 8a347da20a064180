import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warn } from '../../../protocol/notice.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import { setUp, URL_OF_LAB } from './models-fixture.ts';
import type { Fetch } from './provider.ts';

const lab = { environment: { OPENAI_BASE_URL: URL_OF_LAB, OPENAI_API_KEY: 'key' } };

test('without configuration, local servers are asked once, and the demo model answers', async () => {
  const { models, asked } = setUp();
  await models.start();
  await models.resolve();
  assert.deepEqual(
    {
      asked,
      current: models.current(),
      list: models.list(),
      health: models.health(),
      notices: models.notices().length,
    },
    {
      asked: ['http://localhost:11434/v1/models no key', 'http://localhost:8080/v1/models no key'],
      current: { alias: 'demo', provider: 'demo', modelId: 'demo' },
      list: [{ alias: 'demo', provider: 'demo', modelId: 'demo', contextWindow: 0, isDefault: true }],
      health: { status: 'up', circuitState: 'closed' },
      notices: 1,
    },
  );
  assert.match(models.notices()[0]?.text ?? '', /demo model.*OPENAI_BASE_URL/);
});

test('local servers are not probed when a model is configured', async () => {
  const { models, asked } = setUp({ environment: { ANTHROPIC_API_KEY: 'a' } });
  await models.start();
  assert.deepEqual(
    [asked, models.current().modelId],
    [['https://api.anthropic.com/v1/models/claude-sonnet-5-5 no key'], 'claude-sonnet-5-5'], // its key is sent in another header
  );
});

test('a server’s model is known after the start, and is asked for once', async () => {
  const { models, asked } = setUp(lab);
  await models.start();
  const model = await models.resolve();
  assert.deepEqual(
    { asked, id: model.modelId, window: model.contextWindow, list: models.list() },
    {
      asked: [`${URL_OF_LAB}/models Bearer key`],
      id: 'qwen3',
      window: 32_768,
      list: [
        {
          alias: 'openai-compatible',
          provider: 'openai-compatible',
          modelId: 'qwen3',
          contextWindow: 32_768,
          isDefault: true,
        },
      ],
    },
  );
});

test('a server that is down at startup does not prevent the start, and is asked again', async () => {
  const { models, server } = setUp(lab);
  server.answers = 'nothing';
  await models.start();
  assert.equal(models.current().modelId, '');
  server.answers = 'models';
  assert.equal((await models.resolve()).modelId, 'qwen3');
});

test('the window of a named model is asked for until the server has answered, and an earlier answer is kept', async () => {
  const config = { models: { lab: { provider: 'openai-compatible' as const, model: 'qwen3', baseUrl: URL_OF_LAB } } };
  const { models, server, asked, answer, clock } = setUp({ config });
  const windowNow = async () => (await models.resolve('lab')).contextWindow;
  server.answers = 'nothing';
  await models.start();
  const windows = [await windowNow()];
  server.answers = 503;
  await clock.advance(60_000);
  windows.push(await windowNow());
  server.answers = 'models';
  await clock.advance(60_000);
  windows.push(await windowNow());
  asked.length = 0;
  windows.push(await windowNow());
  assert.deepEqual([windows, asked], [[0, 0, 32_768, 32_768], []]);
  server.answers = 400;
  await assert.rejects(answer('lab'), { kind: 'refused' });
  server.answers = 'nothing';
  assert.equal(await windowNow(), 32_768);
});

test('turns do not wait again within a minute for a server that does not describe a named model', async () => {
  const config = { models: { lab: { provider: 'openai-compatible' as const, model: 'qwen3', baseUrl: URL_OF_LAB } } };
  let asked = 0;
  const hanging: Fetch = () => new Promise(() => void asked++);
  const { models, clock } = setUp({ config, fetch: hanging });
  const first = models.resolve('lab');
  await clock.advance(5_000);
  await first;
  const before = asked;
  await models.resolve('lab');
  assert.equal(asked, before);
  await clock.advance(60_000);
  const later = models.resolve('lab');
  await clock.advance(5_000);
  await later;
  assert.equal(asked, before + 1);
});

test('a server that does not describe a named model is asked once', async () => {
  const config = { models: { lab: { provider: 'openai-compatible' as const, model: 'm', baseUrl: URL_OF_LAB } } };
  const { models, server, asked } = setUp({ config });
  server.answers = 404;
  await models.resolve('lab');
  asked.length = 0;
  await models.resolve('lab');
  assert.deepEqual(asked, []);
});

test('a server that refuses a request is asked for its model again; until then, the old one counts', async () => {
  const { models, server, asked, answer } = setUp(lab);
  await models.start();
  const model = await models.resolve();
  server.answers = 400;
  await assert.rejects(answer(), { kind: 'refused' });
  assert.deepEqual([model.modelId, model.contextWindow], ['qwen3', 32_768]);
  server.answers = 'models';
  asked.length = 0;
  await models.resolve();
  assert.deepEqual(asked, [`${URL_OF_LAB}/models Bearer key`]);
});

test('a wrong model at the start is refused', async () => {
  const { models } = setUp({ model: 'nope' });
  await assert.rejects(models.start(), { code: 'INVALID_REQUEST' });
});

test('the known window of a hosted model, and the one that config.json sets', async () => {
  const config = { models: { small: { provider: 'anthropic' as const, contextWindow: 5_000 } } };
  const { models } = setUp({ config, environment: { ANTHROPIC_API_KEY: 'a' } });
  await models.start();
  assert.deepEqual(
    [(await models.resolve()).contextWindow, (await models.resolve('google/gemini-3.8-flash')).contextWindow],
    [5_000, 1_048_576],
  );
  assert.equal((await models.resolve('openai/unheard-of')).contextWindow, 0);
});

test('a missing key is a notice, and an error that names the variable without sending a request', async () => {
  const { models, asked, answer } = setUp({ model: 'openai' });
  await models.start();
  const message = 'openai needs a key, but OPENAI_API_KEY is not set.';
  await assert.rejects(answer(), { kind: 'unauthorized', message });
  assert.deepEqual(
    [models.notices(), asked],
    [[warn('model_key_missing', 'The model openai needs a key, but OPENAI_API_KEY is not set.')], []],
  );
});

test('an unreachable server is a notice from startup until it answers', async () => {
  const { models, server, clock } = setUp(lab);
  server.answers = 'nothing';
  await models.start();
  assert.match(models.notices()[0]?.text ?? '', /^Could not reach openai-compatible at http:\/\/lab:8000\/v1 /);
  const stop = new AbortController();
  const running = models.run(stop.signal);
  server.answers = 'models';
  await clock.advance(120_000);
  assert.deepEqual(models.notices(), []);
  stop.abort();
  await running;
});

test('at startup a hosted provider is asked in the background whether it accepts the key and has the model', async () => {
  const refusals: [number, RegExp][] = [
    [401, /^openai rejected the key from OPENAI_API_KEY \(401\)\.$/],
    [404, /^openai answered 404/],
  ];
  for (const [status, expected] of refusals) {
    const fetch: Fetch = async () => Response.json({ error: { message: 'no such thing' } }, { status });
    const { models } = setUp({ environment: { OPENAI_API_KEY: 'k' }, fetch });
    await models.start();
    await new Promise(setImmediate);
    assert.match(models.notices()[0]?.text ?? '', expected);
  }
});

test('a rejected key is a notice from startup, and the backend counts as up', async () => {
  const { models, server } = setUp(lab);
  server.answers = 401;
  await models.start();
  assert.deepEqual(
    [models.notices(), models.health().status],
    [
      [warn('model_key_refused', `openai-compatible at ${URL_OF_LAB} rejected the key from OPENAI_API_KEY (401).`)],
      'up',
    ],
  );
});

test('the demo model can always be chosen by name', async () => {
  const { models } = setUp(lab);
  await models.start();
  assert.equal((await models.resolve('demo')).provider, 'demo');
});

test('probes open the circuit of a server that went down and close it again, reporting each change', async () => {
  const { models, clock, server, healths, asked } = setUp(lab);
  await models.start();
  const abort = new AbortController();
  const running = models.run(abort.signal);
  server.answers = 'nothing';
  asked.length = 0;
  await clock.advance(4 * 30_000);
  assert.equal(models.health().status, 'up');
  await clock.advance(30_000);
  assert.deepEqual(models.health(), { status: 'down', circuitState: 'open' });
  await clock.advance(59_999);
  assert.equal(asked.length, 5);
  server.answers = 404;
  await clock.advance(1);
  assert.deepEqual(
    { health: models.health(), healths, asked: new Set(asked) },
    {
      health: { status: 'up', circuitState: 'closed' },
      healths: ['open', 'half_open', 'closed'],
      asked: new Set([`${URL_OF_LAB}/models Bearer key`]),
    },
  );
  abort.abort();
  await running;
});

test('a circuit opened by failed answers stays open although probes succeed', async () => {
  const answers = { chat: 500 };
  const fetch: Fetch = async (url) =>
    String(url).endsWith('/models')
      ? Response.json({ data: [{ id: 'm', max_model_len: 100 }] })
      : new Response('no', { status: answers.chat, headers: { 'retry-after': '301' } });
  const { models, clock } = setUp({ ...lab, fetch, post: postOver(fetch) });
  await models.start();
  const abort = new AbortController();
  const running = models.run(abort.signal);
  const ask = async () => {
    const model = await models.resolve();
    const request = { system: '', messages: [{ role: 'user' as const, content: 'hi' }], tools: [] };
    const parts = model.stream({ ...request, effort: 'medium', typedByPerson: true }, abort.signal);
    await assert.rejects(async () => {
      for await (const _ of parts);
    });
    await clock.advance(40_000); // a probe or two
  };
  for (let n = 0; n < 5; n += 1) {
    assert.equal(models.health().circuitState, 'closed');
    await ask();
  }
  assert.equal(models.health().status, 'down');
  assert.match(
    models
      .notices()
      .map(({ text }) => text)
      .join(),
    /answered 500/,
  );
  await clock.advance(10 * 60_000);
  assert.deepEqual(models.health(), { status: 'down', circuitState: 'half_open' });
  abort.abort();
  await running;
});

test('a server first used after startup is probed too; hosted providers never are', async () => {
  const config = { models: { lab: { provider: 'openai-compatible' as const, baseUrl: URL_OF_LAB } } };
  const { models, clock, asked } = setUp({ config, model: 'anthropic', environment: { ANTHROPIC_API_KEY: 'a' } });
  await models.start();
  const atStart = asked.splice(0);
  const abort = new AbortController();
  const running = models.run(abort.signal);
  await clock.advance(60_000);
  assert.deepEqual([atStart.length, asked], [1, []]);
  await models.resolve('lab');
  await clock.advance(30_000);
  assert.deepEqual(asked, [`${URL_OF_LAB}/models no key`, `${URL_OF_LAB}/models no key`]);
  abort.abort();
  await running;
});

test('a server that hangs delays the start by a second at most', async () => {
  const hanging: Fetch = () => new Promise(() => undefined);
  const { models, clock } = setUp({ ...lab, fetch: hanging });
  const started = models.start();
  await clock.advance(1_000);
  await started;
  assert.equal(models.current().alias, 'openai-compatible');
});
