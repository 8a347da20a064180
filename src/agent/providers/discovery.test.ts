import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { describeModel, findLocalServer, probe, within } from './discovery.ts';
import type { Fetch } from './provider.ts';

/** Fixed responses by URL; all other URLs are 404. A number is a status. */
function web(pages: Record<string, unknown>) {
  const asked: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    asked.push(
      [init?.method ?? 'GET', String(url), headers.get('authorization'), init?.body].filter(Boolean).join(' '),
    );
    const page = pages[String(url)];
    if (page instanceof Error) throw page;
    if (typeof page === 'number') return new Response('', { status: page });
    return page === undefined ? new Response('', { status: 404 }) : Response.json(page);
  };
  return { asked, fetch };
}

const server = { provider: 'openai-compatible', baseUrl: 'http://host:8000/v1', apiKey: 'key', keyName: 'KEY' };
const signal = new AbortController().signal;

test('vLLM: the first model and its max_model_len', async () => {
  const { fetch, asked } = web({
    'http://host:8000/v1/models': { data: [{ id: 'qwen', max_model_len: 40_960 }, { id: 'b' }] },
  });
  assert.deepEqual(await describeModel(server, { fetch, signal }), { modelId: 'qwen', contextWindow: 40_960 });
  assert.deepEqual(asked, ['GET http://host:8000/v1/models Bearer key']);
});

test('llama.cpp: n_ctx of /props', async () => {
  const { fetch } = web({
    'http://host:8000/v1/models': { data: [{ id: 'gemma.gguf', meta: { n_ctx_train: 1 } }] },
    'http://host:8000/props': { default_generation_settings: { n_ctx: 8_192 } },
  });
  assert.deepEqual(await describeModel(server, { fetch, signal }), { modelId: 'gemma.gguf', contextWindow: 8_192 });
});

test('Ollama: context_length of /api/show, or what the model file sets', async () => {
  const models = { 'http://host:8000/v1/models': { data: [{ id: 'nomic-embed-text' }, { id: 'llama4' }] } };
  const model_info = { 'general.architecture': 'llama', 'llama.context_length': 131_072 };
  const free = web({ ...models, 'http://host:8000/api/show': { model_info } });
  assert.deepEqual(await describeModel(server, { ...free, signal }), { modelId: 'llama4', contextWindow: 131_072 });
  assert.equal(free.asked.at(-1), 'POST http://host:8000/api/show Bearer key {"model":"llama4"}');
  const set = web({ ...models, 'http://host:8000/api/show': { model_info, parameters: 'stop "x"\nnum_ctx    16384' } });
  assert.deepEqual(await describeModel(server, { ...set, signal }), { modelId: 'llama4', contextWindow: 16_384 });
  const parameters = `num_ctx ${'9'.repeat(30)}`;
  const odd = web({ ...models, 'http://host:8000/api/show': { model_info, parameters } });
  assert.deepEqual(await describeModel(server, { ...odd, signal }), { modelId: 'llama4', contextWindow: 131_072 });
});

test('a named model is looked up; an unknown context window is 0', async () => {
  const { fetch } = web({ 'http://host:8000/v1/models': { data: [{ id: 'a', max_model_len: 1 }, { id: 'b' }] } });
  assert.deepEqual(await describeModel({ ...server, modelId: 'b' }, { fetch, signal }), {
    modelId: 'b',
    contextWindow: 0,
  });
});

for (const [what, page, kind] of [
  ['an empty list', { data: [] }, 'refused'],
  ['something other than a list', { hello: 1 }, 'refused'],
  ['a refused key', 401, 'unauthorized'],
  ['a failure', 500, 'unreachable'],
  ['no server', new TypeError('fetch failed'), 'unreachable'],
] as const) {
  test(`${what} instead of models is ${kind}`, async () => {
    const { fetch } = web({ 'http://host:8000/v1/models': page });
    await assert.rejects(describeModel(server, { fetch, signal }), { name: 'ProviderError', kind });
  });
}

test('a probe accepts any answer except a failure', async () => {
  const outcomes: string[] = [];
  for (const page of [{ data: [] }, 401, 404, 429, 500, new TypeError('fetch failed')]) {
    const { fetch } = web({ 'http://host:8000/v1/models': page });
    outcomes.push(
      await probe(server, { fetch, signal }).then(
        () => 'up',
        () => 'down',
      ),
    );
  }
  assert.deepEqual(outcomes, ['up', 'up', 'up', 'up', 'down', 'down']);
});

test('local servers are asked once, without a key; the first with a model is used', async () => {
  const { fetch, asked } = web({
    'http://localhost:11434/v1/models': { data: [] },
    'http://localhost:8080/v1/models': { data: [{ id: 'a' }] },
  });
  const found = await findLocalServer({ fetch, listens: async () => true, clock: fakeClock(), signal });
  assert.equal(found, 'http://localhost:8080/v1');
  assert.deepEqual(asked, ['GET http://localhost:11434/v1/models', 'GET http://localhost:8080/v1/models']);
});

test('a local server is not asked if nothing listens at its port', async () => {
  const { fetch, asked } = web({ 'http://localhost:8080/v1/models': { data: [{ id: 'a' }] } });
  const listens = async ({ port }: URL) => port === '11434';
  assert.equal(await findLocalServer({ fetch, listens, clock: fakeClock(), signal }), undefined);
  assert.deepEqual(asked, ['GET http://localhost:11434/v1/models']);
});

test('local servers that do not answer within 300 ms are not waited for', async () => {
  const clock = fakeClock();
  const hanging: Fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const found = findLocalServer({ fetch: hanging, listens: async () => true, clock, signal });
  await clock.advance(300);
  assert.equal(await found, undefined);
});

test('a deadline ends its operation, and its timer ends with the operation', async () => {
  const clock = fakeClock();
  let given: AbortSignal | undefined;
  const late = within(100, { clock, signal }, (inner) => {
    given = inner;
    return new Promise<string>(() => undefined);
  });
  const rejected = assert.rejects(late, { name: 'TimeoutError', message: 'No answer within 100 ms.' });
  await clock.advance(100);
  await rejected;
  assert.equal(given?.aborted, true);
  assert.equal(await within(100, { clock, signal }, async () => 'in time'), 'in time');
  await clock.advance(1_000);
});
