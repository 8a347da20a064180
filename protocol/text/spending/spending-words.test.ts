import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSpending, moneyOf, toPriceWords, toSpendingWords, toTokenWords } from './spending-words.ts';

const one = {
  ...{ model: 'openai/gpt-5', input_tokens: 1_200, cache_read_tokens: 1_000, cache_write_tokens: 0 },
  ...{ output_tokens: 30, duration_ms: 1_500 },
};
const seconds = (ms: number) => `${ms / 1_000} s`;

test('answers are added up; the model is that of the last one', () => {
  const other = { ...one, model: 'anthropic/claude', cost_usd: 0.5 };
  assert.equal(addSpending(undefined, undefined), undefined);
  assert.equal(addSpending(one, undefined), one);
  assert.deepEqual(addSpending(addSpending(one, other), { ...one, is_estimated: true }), {
    ...{ model: 'openai/gpt-5', input_tokens: 3_600, cache_read_tokens: 3_000, cache_write_tokens: 0 },
    ...{ output_tokens: 90, cost_usd: 0.5, unpriced_tokens: 2_460, is_estimated: true, duration_ms: 4_500 },
  });
});

test('an answer shows its time, its model, and money or tokens', () => {
  assert.equal(toSpendingWords({ ...one, cost_usd: 0.25 }, seconds), '1.5 s · gpt-5 · $0.25');
  assert.equal(toSpendingWords({ ...one, is_estimated: true }, seconds), '1.5 s · gpt-5 · ≈ 1,230 tokens');
  assert.equal(toTokenWords(one), 'openai/gpt-5: 1,200 tokens of input (1,000 from the cache), 30 of output');
});

test('a sum in which some answers have no price shows their tokens, too', () => {
  const priced = { ...one, cost_usd: 0.5 };
  const words = (...all: (typeof one)[]) => {
    const sum = all.reduce<ReturnType<typeof addSpending>>(addSpending, undefined);
    return sum && toSpendingWords(sum, seconds);
  };
  assert.equal(words(one, one), '3 s · gpt-5 · 2,460 tokens');
  assert.equal(words(one, one, priced), '4.5 s · gpt-5 · $0.50 + 2,460 tokens');
  assert.equal(words(priced, one, priced), '4.5 s · gpt-5 · $1.00 + 1,230 tokens');
  assert.equal(words(priced, priced), '3 s · gpt-5 · $1.00');
});

test('a small amount does not look like nothing', () => {
  assert.deepEqual([0, 0.00002, 0.0123, 12.345].map(moneyOf), ['$0.00', 'under $0.0001', '$0.0123', '$12.35']);
  assert.equal(toPriceWords({ input: 0.2, output: 1.5 }), '$0.2 in, $1.5 out');
});
