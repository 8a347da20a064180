import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownPrice, microCostOf } from './price.ts';

const usage = { promptTokens: 1_000, completionTokens: 100, cacheCreationTokens: 200, cacheReadTokens: 300 };

test('cached tokens have their own prices, or that of the input', () => {
  const own = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  assert.equal(microCostOf(usage, own), 500 * 3 + 300 * 0.3 + 200 * 3.75 + 100 * 15);
  assert.equal(microCostOf(usage, { input: 3, output: 15 }), 1_000 * 3 + 100 * 15);
  assert.equal(microCostOf({ ...usage, promptTokens: 0 }, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 }), 0);
});

test('list prices are found by the longest prefix, and unknown models have none', () => {
  assert.deepEqual(
    ['gpt-4o-mini-2024', 'gpt-4o', 'a model of tomorrow'].map((id) => knownPrice(id)?.input),
    [0.15, 2.5, undefined],
  );
});
