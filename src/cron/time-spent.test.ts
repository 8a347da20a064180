import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEASE_MS } from './lease-watch.ts';
import type { OpenOccurrence } from './occurrence.ts';
import { timeSpent } from './time-spent.ts';

const STARTED_MS = 1_000_000;
const DAY_MS = 86_400_000;
const left: OpenOccurrence = {
  ...{ jobId: 'job_1', scheduledMs: STARTED_MS, trigger: 'schedule', epoch: 1, attempts: 1 },
  ...{ status: 'started', owner: 'before', startedMs: STARTED_MS },
  ...{ leaseMs: STARTED_MS + 40_000 + LEASE_MS, spentMs: 40_000 },
};

test('the stored time counts, plus up to ten seconds after it', () => {
  assert.equal(timeSpent(left, STARTED_MS + 40_000), 40_000);
  assert.equal(timeSpent(left, STARTED_MS + 43_000), 43_000);
  assert.equal(timeSpent(left, STARTED_MS + DAY_MS), 50_000, 'no process worked all day');
});

test('a clock set back does not reduce the time', () => {
  assert.equal(timeSpent(left, STARTED_MS - DAY_MS), 40_000);
});

test('a run claimed long before its start counts from its start', () => {
  const late = { ...left, spentMs: 0, leaseMs: STARTED_MS - DAY_MS };
  assert.equal(timeSpent(late, STARTED_MS + 3_000), 3_000);
  assert.equal(timeSpent({ ...late, startedMs: undefined }, STARTED_MS), 0);
});
