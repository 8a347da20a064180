import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { createTokenBucket } from './token-bucket.ts';

test('a budget reports when it will be full again', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ limit: () => ({ burst: 5, perSecond: 10 }), clock });
  const fullInMs = [bucket.fullInMs()];
  bucket.take(5);
  fullInMs.push(bucket.fullInMs());
  await clock.advance(200);
  fullInMs.push(bucket.fullInMs());
  assert.deepEqual(fullInMs, [0, 500, 300]);
});

test('a heavy event takes its weight, and waits until the budget covers all of it', () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ limit: () => ({ burst: 5, perSecond: 10 }), clock });
  assert.deepEqual([bucket.take(3), bucket.take(3), bucket.take(2), bucket.take()], [0, 100, 0, 100]);
});

test('a changed limit takes effect at once', async () => {
  const clock = fakeClock();
  let limit = { burst: 100, perSecond: 10 };
  const bucket = createTokenBucket({ limit: () => limit, clock });
  limit = { burst: 2, perSecond: 1 };
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [0, 0, 1_000]);
  limit = { burst: 100, perSecond: 1_000 };
  await clock.advance(100);
  assert.deepEqual([bucket.take(100), bucket.take()], [0, 1]);
});
