import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createTokenBucket } from './token-bucket.ts';

test('a budget says when all of it is there again', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ burst: 5, perSecond: 10, clock });
  const fullInMs = [bucket.fullInMs()];
  bucket.take(5);
  fullInMs.push(bucket.fullInMs());
  await clock.advance(200);
  fullInMs.push(bucket.fullInMs());
  assert.deepEqual(fullInMs, [0, 500, 300]);
});

test('a heavy event takes its weight, and waits until there is enough for all of it', () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ burst: 5, perSecond: 10, clock });
  assert.deepEqual([bucket.take(3), bucket.take(3), bucket.take(2), bucket.take()], [0, 100, 0, 100]);
});
