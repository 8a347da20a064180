import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../testing/http-edge.ts';

const known = { id: 'dear', name: 'm', provider: 'openai', contextWindow: 1_000, isDefault: true };

test('a model shows its price as the list has it, with all rates and their source', async () => {
  const rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const price = {
    ...rates,
    long: { above: 200_000, input: 6, output: 22.5 },
    source: 'https://example.com',
    asOf: '2026-11-01',
  };
  const plain = { input: 1, output: 2, source: 'config.json' };
  await using edge = await httpEdge({
    answer: () => ({
      models: [
        { ...known, price },
        { id: 'own', name: 'q', provider: 'x', price: plain },
        { id: 'demo', name: 'demo', provider: 'demo' },
      ],
    }),
  });
  const { text } = await edge.send({
    method: 'GET',
    path: '/v1/api/models',
    headers: { authorization: 'Bearer read' },
  });
  const prices = JSON.parse(text).models.map((model: { price?: unknown }) => model.price);
  assert.deepEqual(prices, [
    {
      ...{ input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
      long: { above: 200_000, input: 6, output: 22.5 },
      ...{ source: 'https://example.com', as_of: '2026-11-01' },
    },
    { input: 1, output: 2, source: 'config.json' },
    undefined,
  ]);
});
