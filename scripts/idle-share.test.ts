import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchIdleShare } from './idle-share.js';

const processor = (idle: number, user: number) => ({
  ...{ model: 'one', speed: 0 },
  times: { idle, user, nice: 0, sys: 0, irq: 0 },
});

test('the idle share is that of all processors since the last look', () => {
  const looks = [
    [processor(100, 900), processor(0, 1_000)],
    [processor(200, 900), processor(0, 1_100)],
    [processor(200, 1_000), processor(0, 1_200)],
    [processor(200, 1_000), processor(0, 1_200)],
  ];
  const idleShare = watchIdleShare(() => looks.shift() ?? []);
  assert.deepEqual([idleShare(), idleShare(), idleShare()], [0.5, 0, 0]);
});
