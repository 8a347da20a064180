import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from './duration.ts';

test('a duration is a count and a unit', () => {
  const good = ['90s', '30m', '12h', '30d', '2w', ' 1D '].map(parseDuration);
  assert.deepEqual(good, [90_000, 1_800_000, 43_200_000, 2_592_000_000, 1_209_600_000, 86_400_000]);
  const bad = ['', '30', 'd', '-1d', '1.5h', '1y', '1 d', '9999999d'].map(parseDuration);
  assert.deepEqual(new Set(bad), new Set([undefined]));
});
