import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInterval } from './interval.ts';

test('intervals are spans with units, or bare seconds', () => {
  const texts = ['30s', '5m', '1h', '2h30m', ' 1H5M ', '90', '10', '86400', '24h'];
  assert.deepEqual(
    texts.map((text) => parseInterval(text)),
    [30, 300, 3_600, 9_000, 3_900, 90, 10, 86_400, 86_400].map((secs) => ({ secs })),
  );
});

test('anything else is refused, also what is too short or too long', () => {
  for (const text of ['', ' ', '0', '-5m', '9s', '86401', '25h', '5 minutes', '1m5', 'm', '1e3', '1.5h', '5s5m'])
    assert.ok('problem' in parseInterval(text), text);
});
