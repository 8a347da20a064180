import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemClock } from './clock.ts';

const DAY = 86_400_000;

test('a sleep longer than the longest timer does not end at once, and can be aborted', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new AbortController();
  let isOver = false;
  const sleeping = systemClock.sleep(365 * DAY, stop.signal).finally(() => {
    isOver = true;
  });
  for (const days of [24, 24, 24]) {
    t.mock.timers.tick(days * DAY);
    await new Promise(setImmediate);
  }
  assert.equal(isOver, false);
  stop.abort(new Error('enough'));
  await assert.rejects(sleeping, /enough/);
});
