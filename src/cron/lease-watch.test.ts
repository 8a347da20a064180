import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { LEASE_MS, LeaseWatch } from './lease-watch.ts';
import type { OpenOccurrence } from './occurrence.ts';

const open: OpenOccurrence = {
  ...{ jobId: 'job_1', scheduledMs: 1, trigger: 'schedule', epoch: 1, attempts: 0 },
  ...{ status: 'started', owner: 'other', leaseMs: 5, spentMs: 0 },
};

test('a lease ends when no renewal was seen, whatever the wall clock shows', async () => {
  const clock = fakeClock(1_000_000);
  const watch = new LeaseWatch(clock);
  assert.equal(watch.isOver(open), false, 'seen for the first time');
  clock.jump(400 * 86_400_000);
  assert.equal(watch.isOver(open), false);
  await clock.advance(LEASE_MS - 1);
  assert.equal(watch.isOver({ ...open, leaseMs: 6 }), false, 'renewed');
  await clock.advance(LEASE_MS - 1);
  assert.equal(watch.isOver({ ...open, leaseMs: 6 }), false);
  await clock.advance(1);
  assert.equal(watch.isOver({ ...open, leaseMs: 6 }), true);
  assert.equal(watch.isOver({ ...open, epoch: 2, leaseMs: 6 }), false, 'taken over');
});
