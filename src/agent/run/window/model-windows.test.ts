import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createModelWindows, outputBytesIn } from './model-windows.ts';

const model = (contextWindow: number, alias = 'm') => ({ alias, provider: 'test', modelId: 'm', contextWindow });
/** How long a refused request was. */
const REQUEST = { tokens: 10_000, bytes: 35_000 };
const usage = (promptTokens: number, completionTokens = 0) => ({
  ...{ promptTokens, completionTokens, cacheCreationTokens: 0, cacheReadTokens: 0 },
});

test('an unknown window is learned from the first overflow, for this model only', () => {
  const windows = createModelWindows();
  windows.noteOverflow(model(0), { about: 'window', maximum: 8_192 }, REQUEST);
  assert.deepEqual([windows.of(model(0)).size, windows.of(model(0, 'other')).size], [8_192, 0]);
});

test('without numbers the window is taken to be smaller than the request', () => {
  const windows = createModelWindows();
  windows.noteOverflow(model(0), { about: 'window' }, REQUEST);
  assert.equal(windows.of(model(0)).size, 9_000);
});

test('an overflow proves that a known window is smaller; a longer request proves the opposite', () => {
  const windows = createModelWindows();
  windows.noteOverflow(model(131_072), { about: 'window', maximum: 4_096 }, REQUEST);
  assert.equal(windows.of(model(131_072)).size, 4_096);
  windows.noteOverflow(model(2_000), { about: 'window', maximum: 4_096 }, REQUEST);
  assert.equal(windows.of(model(2_000)).size, 2_000);
  windows.noteUsage(model(131_072), { usage: usage(4_000, 200), bytes: 14_000 });
  assert.equal(windows.of(model(131_072)).size, 131_072);
});

test('a learned window holds until something else is known of the model', () => {
  const told: unknown[] = [];
  const windows = createModelWindows({ onLearned: ({ alias }, window) => told.push([alias, window]) });
  const sizes = (...known: number[]) => known.map((contextWindow) => windows.of(model(contextWindow)).size);
  windows.noteOverflow(model(0), { about: 'window', maximum: 8_192 }, REQUEST);
  assert.deepEqual(sizes(0, 32_768), [8_192, 32_768]);
  windows.noteOverflow(model(32_768), { about: 'window', maximum: 16_384 }, REQUEST);
  assert.deepEqual(sizes(0, 32_768, 65_536), [16_384, 16_384, 65_536]);
  windows.noteUsage(model(32_768), { usage: usage(20_000), bytes: 70_000 });
  windows.noteUsage(model(32_768), { usage: usage(20_000), bytes: 70_000 });
  assert.deepEqual(sizes(0, 32_768), [0, 32_768]);
  assert.deepEqual(told, [
    ['m', { size: 8_192, instead: 0 }],
    ['m', { size: 16_384, instead: 32_768 }],
    ['m', undefined],
  ]);
  windows.restore(model(0), { size: 4_096, instead: 0 });
  assert.deepEqual([sizes(0), told.length], [[4_096], 3]);
});

test('bytes per token are learned from usage, within limits, and not from short requests', () => {
  const windows = createModelWindows();
  const rate = () => windows.of(model(0)).bytesPerToken;
  windows.noteUsage(model(0), { usage: usage(20), bytes: 20 });
  assert.equal(rate(), 3.5);
  windows.noteUsage(model(0), { usage: usage(1_000), bytes: 2_000 });
  assert.equal(rate(), 2.75);
  for (let times = 0; times < 20; times += 1) windows.noteUsage(model(0), { usage: usage(1_000), bytes: 100_000 });
  assert.equal(Math.round(rate()), 5);
});

test('an overflow with its number of tokens corrects the estimate', () => {
  const windows = createModelWindows();
  windows.noteOverflow(model(0), { about: 'window', maximum: 8_192, asked: 17_500 }, REQUEST);
  assert.equal(windows.of(model(0)).bytesPerToken, 2);
});

test('one output gets an eighth of the window, at least 4 KiB and at most 64 KiB', () => {
  assert.deepEqual([0, 4_096, 32_768, 1_000_000].map(outputBytesIn), [65_536, 4_096, 14_336, 65_536]);
});
