import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumOfUsage } from './usage-sum.ts';

const total = {
  turns: 1,
  inputTokens: 20,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  outputTokens: 5,
  reasoningTokens: 6,
  costUsd: 0.5,
  unpricedTokens: 8,
};

test('every count of two totals is added up; estimated tokens stay absent unless one has them', () => {
  const twice = Object.fromEntries(Object.entries(total).map(([name, count]) => [name, 2 * count]));
  assert.deepEqual(sumOfUsage(total, total), twice);
  assert.deepEqual(sumOfUsage({ ...total, estimatedTokens: 9 }, total), { ...twice, estimatedTokens: 9 });
});
