import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers, wallClock } from './timers.ts';

test('a wait longer than the longest timer does not end at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const called: number[] = [];
  for (const ms of [Number.POSITIVE_INFINITY, 2 ** 31, 10]) systemTimers.after(ms, () => called.push(ms));
  t.mock.timers.tick(10);
  assert.deepEqual(called, [10]);
  t.mock.timers.tick(2 ** 31);
  assert.deepEqual(called, [10, Number.POSITIVE_INFINITY, 2 ** 31]);
});

test('the time of day is that of the system, which goes on while the machine sleeps', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 });
  assert.equal(wallClock.now(), 1_000);
  t.mock.timers.setTime(28_801_000);
  assert.equal(wallClock.now(), 28_801_000);
});
