import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { FirmEnds } from './firm-ends.ts';

test('an end comes by the clock that reaches it first', async () => {
  const clock = fakeClock(10_000);
  const ends = new FirmEnds(clock);
  const [about, other] = [{}, {}];
  const left = () => [ends.leftMs(about, 11_000), ends.leftMs(other, 12_000)];
  assert.deepEqual(left(), [1_000, 2_000]);
  await clock.advance(400);
  clock.jump(-5_000);
  assert.deepEqual(left(), [600, 1_600], 'set back');
  clock.jump(5_100);
  assert.deepEqual(left(), [500, 1_500], 'set forward');
  await clock.advance(500);
  clock.jump(-3_600_000);
  assert.deepEqual(left(), [100, 1_100]);
  await clock.advance(100);
  assert.deepEqual(left(), [0, 1_000]);
});
