import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from './timers.ts';

test('a wait longer than the longest timer does not end at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const called: number[] = [];
  for (const ms of [Number.POSITIVE_INFINITY, 2 ** 31, 10]) systemTimers.after(ms, () => called.push(ms));
  t.mock.timers.tick(10);
  assert.deepEqual(called, [10]);
  t.mock.timers.tick(2 ** 31);
  assert.deepEqual(called, [10, Number.POSITIVE_INFINITY, 2 ** 31]);
});
