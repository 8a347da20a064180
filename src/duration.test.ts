import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeDuration, parseDuration } from './duration.ts';

test('a duration is parsed from counts and units', () => {
  const good = ['90s', '30m', '12h', '30d', '2w', ' 1D ', '2h30m', '1d12h'].map(parseDuration);
  const expected = [90_000, 1_800_000, 43_200_000, 2_592_000_000, 1_209_600_000, 86_400_000, 9_000_000, 129_600_000];
  assert.deepEqual(good, expected);
  const bad = ['', '30', 'd', '-1d', '1.5h', '1y', '1 d', '9999999d', '30m2h', '1h1h'].map(parseDuration);
  assert.deepEqual(new Set(bad), new Set([undefined]));
});

test('a duration is described in words', () => {
  const told = [0, 300, 1_000, 90_000, 900_000, 9_000_000, 86_400_000, 691_200_000, 1_209_600_000].map(
    describeDuration,
  );
  assert.deepEqual(told, [
    '0 seconds',
    '300 ms',
    '1 second',
    '1 minute 30 seconds',
    '15 minutes',
    '2 hours 30 minutes',
    '1 day',
    '8 days',
    '2 weeks',
  ]);
});

test('a described duration can be parsed again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000_000 }), (seconds) => {
      const short = describeDuration(seconds * 1_000).replaceAll(/ ([wdhms])[a-z]*/g, '$1');
      assert.equal(parseDuration(short.replaceAll(' ', '')), seconds * 1_000);
    }),
  );
});
