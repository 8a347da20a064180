import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createTokenBucket } from './token-bucket.ts';

test('a heavy event takes its weight, and waits until there is enough for all of it', () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ burst: 5, perSecond: 10, clock });
  assert.deepEqual([bucket.take(3), bucket.take(3), bucket.take(2), bucket.take()], [0, 100, 0, 100]);
});
