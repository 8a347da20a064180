import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOSTED } from '../known-models.ts';
import { microCostOf } from './cost.ts';
import { LIST_PRICES, listPrice } from './list-prices.ts';
import { Price } from './price.ts';

const usage = { promptTokens: 1_000, completionTokens: 100, cacheCreationTokens: 200, cacheReadTokens: 300 };
const DAY = '2026-11-01';

test('cached tokens have their own prices, or that of the input', () => {
  const own = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  assert.equal(microCostOf(usage, own), 500 * 3 + 300 * 0.3 + 200 * 3.75 + 100 * 15);
  assert.equal(microCostOf(usage, { input: 3, output: 15 }), 1_000 * 3 + 100 * 15);
  assert.equal(microCostOf({ ...usage, promptTokens: 0 }, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 }), 0);
});

test('a long request has its own price for all of its tokens', () => {
  const price = { input: 1, output: 2, cacheRead: 0, long: { above: 1_000, input: 10, output: 20 } };
  assert.equal(microCostOf(usage, price), 700 + 200);
  assert.equal(microCostOf({ ...usage, promptTokens: 1_001 }, price), 10_010 + 2_000);
  assert.equal(microCostOf({ ...usage, promptTokens: 1_800 }, price, 900), 1_500 + 200);
});

test('the list has a price for the versions of a model, and none for models that it does not name', () => {
  const inputOf = (id: string) => listPrice(id, DAY)?.price.input;
  assert.deepEqual(
    ['gpt-4o-mini-2024-07-18', 'gpt-4o', 'claude-sonnet-4-5-20250929', 'gemini-3.1-pro-preview'].map(inputOf),
    [0.15, 2.5, 3, 2],
  );
  assert.deepEqual(
    ['a model of tomorrow', 'gpt-4o-audio', 'claude-opus-5-9', ''].map(inputOf),
    Array(4).fill(undefined),
  );
});

test('the price of a model can change on a day', () => {
  const inputs = ['2026-12-31', '2027-01-01'].map((day) => listPrice('gemini-3.8-flash', day)?.price.input);
  assert.deepEqual(inputs, [0.75, 1.5]);
});

test('every default model has a price, and every list a source, a date and each model once at a time', () => {
  for (const { modelId } of Object.values(HOSTED)) assert.ok(listPrice(modelId, DAY), modelId);
  const seen = new Set<string>();
  for (const { source, asOf, rows } of LIST_PRICES) {
    assert.match(source, /^https:/);
    assert.match(asOf, /^\d{4}-\d{2}-\d{2}$/);
    for (const { models, price, until } of rows) {
      assert.ok(Price.parse(price).output >= price.input);
      for (const name of models.map((id) => `${id} ${until ?? ''}`)) assert.ok(!seen.has(name) && seen.add(name), name);
    }
  }
});
