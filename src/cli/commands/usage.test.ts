import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toUsageLines } from './usage.ts';

const row = (key: string, costUsd: number, unpricedTokens = 0) => ({
  key,
  turns: 2,
  inputTokens: 12_000,
  cacheReadTokens: 9_000,
  cacheWriteTokens: 0,
  outputTokens: 300,
  reasoningTokens: 100,
  costUsd,
  unpricedTokens,
});

test('usage is a table with a sum, which names what has no price', () => {
  assert.deepEqual(toUsageLines({ rows: [row('2026-01-02', 0.5), row('2026-01-01', 1.25, 12_300)] }, 'day'), [
    'day         turns  input   cached  output  reasoning  US$',
    '2026-01-02  2      12,000  9,000   300     100        0.50',
    '2026-01-01  2      12,000  9,000   300     100        1.25',
    'all         4      24,000  18,000  600     200        1.75',
    '',
    '12,300 tokens are not in the sum: set models.<alias>.price in config.json.',
  ]);
});

test('rows that are left out are in the sum, and are told', () => {
  const { key: _, ...total } = { ...row('', 7), turns: 1_000 };
  assert.deepEqual(toUsageLines({ rows: [row('run-2', 0.0042)], total, truncated: true }, 'run'), [
    'run    turns  input   cached  output  reasoning  US$',
    'run-2  2      12,000  9,000   300     100        0.0042',
    'all    1,000  12,000  9,000   300     100        7.00',
    '',
    'Only the latest 1 are shown; "all" has the others, too.',
  ]);
});

test('no usage is said in words', () => {
  assert.deepEqual(toUsageLines({ rows: [] }, 'day'), ['No model has been used in this time.']);
});
