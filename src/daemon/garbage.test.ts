import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { collectOnceIdle } from './garbage.ts';

test('garbage is collected once, when the daemon has had little to do for ten seconds', async () => {
  const clock = fakeClock();
  let collections = 0;
  let share = 0.5;
  const utilization = () => ({ active: 0, idle: 0, utilization: share });
  const over = collectOnceIdle({ clock, collect: () => (collections += 1), utilization }, new AbortController().signal);
  for (share of [0.5, 0.06]) {
    await clock.advance(10_000);
    assert.equal(collections, 0, `${share} of the time was work`);
  }
  share = 0.05;
  await clock.advance(9_999);
  assert.equal(collections, 0);
  await clock.advance(1);
  await over;
  assert.equal(collections, 1);
});
