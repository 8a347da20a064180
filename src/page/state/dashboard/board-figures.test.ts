import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HealthSample } from '../../../../protocol/methods/health.ts';
import { daysBefore, firstOf, placeOf, toColumns, toDayWords, toFacts, toHours } from './board-figures.ts';

const sample = (minute: number, more: Partial<HealthSample> = {}): HealthSample => ({
  ...{ atMs: minute * 60_000, lagMs: 1, busy: 0.1, circuit: 'closed', store: 'ok' },
  ...more,
});

test('the facts name the worst of the day', () => {
  const worst = sample(10, { lagMs: 80 });
  const slow = sample(20, { storeMs: 30, circuit: 'half_open' });
  const samples = [sample(0, { storeMs: 2 }), worst, slow, sample(30, { circuit: 'open', store: 'degraded' })];
  assert.deepEqual(toFacts(samples), { lag: worst, write: slow, openSamples: 2, fullSamples: 1 });
  assert.deepEqual(toFacts([]), { lag: undefined, write: undefined, openSamples: 0, fullSamples: 0 });
});

test('columns are as high as their values, and something is never drawn like nothing', () => {
  assert.deepEqual(toColumns([0, 5, 10, 0.001], { width: 40, height: 20 }), [
    { x: 1, width: 8, height: 0 },
    { x: 11, width: 8, height: 10 },
    { x: 21, width: 8, height: 20 },
    { x: 31, width: 8, height: 1 },
  ]);
  assert.deepEqual(toColumns([], { width: 40, height: 20 }), []);
});

test('a chart of days has a week at least', () => {
  assert.deepEqual(daysBefore(['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05']), [
    '2026-02-27',
    '2026-02-28',
  ]);
  assert.deepEqual([daysBefore(Array.from({ length: 8 }, () => '2026-03-01')), daysBefore([])], [[], []]);
});

test('a time has its place in the last day', () => {
  const nowMs = 48 * 3_600_000;
  const places = [0, 24, 36, 48, 60].map((hour) => placeOf(hour * 3_600_000, nowMs, 240));
  assert.deepEqual(places, [0, 0, 120, 240, 240]);
});

test('the table has the worst of each hour, the latest first', () => {
  const hours = toHours([
    sample(0, { lagMs: 9, storeMs: 4, circuit: 'half_open' }),
    sample(30, { circuit: 'open' }),
    sample(59, { busy: 0.5, store: 'degraded' }),
    sample(60),
  ]);
  assert.deepEqual(hours, [
    sample(60),
    sample(0, { lagMs: 9, busy: 0.5, circuit: 'open', store: 'degraded', storeMs: 4 }),
  ]);
});

test('the words for a day do not show a small sum as nothing, or a part as the whole', () => {
  const day = {
    ...{ turns: 1, inputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 200, reasoningTokens: 0 },
    ...{ costUsd: 0.0012, unpricedTokens: 0 },
  };
  assert.equal(toDayWords(day), '$0.0012, 1,200 tokens');
  assert.equal(toDayWords({ ...day, unpricedTokens: 700 }), '$0.0012, 1,200 tokens (700 of them without a price)');
});

test('a long list is cut, and the rest is counted', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => index);
  assert.deepEqual([firstOf(all).rows.length, firstOf(all).left, firstOf([1]).left], [20, 9_980, 0]);
});
