import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim, Outcome, Settled } from '../occurrence.ts';
import type { Job } from './job.ts';
import { type Attempt, isAlarming, isMissedForGood, jobAfter, jobAfterMissing, jobSetBack } from './job-end.ts';
import { someJob } from './job-fixture.ts';

const HOUR_MS = 3_600_000;
const once = (more: Partial<Job> = {}) =>
  someJob({ schedule: { kind: 'at', atMs: 1_000 }, nextMs: undefined, handledMs: 1_000, ...more });
const attempt = (status: Outcome['status'], claim: Partial<Claim> = {}): Attempt => ({
  claim: { jobId: 'job_1', scheduledMs: 1_000, trigger: 'schedule', epoch: 1, attempts: 0, ...claim },
  outcome: { status, ...(status !== 'ok' && { error: 'why' }) },
  startedMs: 1_000,
  durationMs: 1_000,
  endedMs: 2_000,
});
const after = (job: Job, ended: Attempt) => jobAfter(job, ended, { isMoved: false });

test('at: an error is retried after 30 s, doubling, up to five attempts', () => {
  const waits = [0, 1, 2, 3, 4].map((attempts) => {
    const end = after(once(), attempt('error', { attempts }));
    return end.kind === 'retry' ? end.retryMs - 2_000 : [end.job?.enabled, end.job?.nextMs];
  });
  assert.deepEqual(waits, [30_000, 60_000, 120_000, 240_000, [false, undefined]]);
});

test('at: after ok the job is disabled, or deleted', () => {
  const end = after(once(), attempt('ok'));
  assert.deepEqual([end.kind, end.job?.enabled, end.job?.last?.status], ['final', false, 'ok']);
  assert.deepEqual(after(once({ deleteAfterRun: true }), attempt('ok')), { kind: 'final', job: undefined });
  assert.equal(after(once({ deleteAfterRun: true }), attempt('interrupted')).job?.enabled, false);
});

test('at: a run forced before its time replaces the planned run only if it succeeds', () => {
  const planned = once({ nextMs: 1_000, handledMs: undefined });
  const failed = after(planned, attempt('error', { trigger: 'forced', scheduledMs: 500 }));
  assert.deepEqual([failed.kind, failed.job?.enabled, failed.job?.nextMs], ['final', true, 1_000]);
  const done = after(planned, attempt('ok', { trigger: 'forced', scheduledMs: 500 }));
  assert.deepEqual([done.job?.enabled, done.job?.nextMs], [false, undefined]);
});

test('a job disabled during its run is not retried; one that got another time keeps it', () => {
  assert.equal(after(once({ enabled: false }), attempt('error')).kind, 'final');
  const moved = once({ schedule: { kind: 'at', atMs: 9_000 }, nextMs: 9_000, deleteAfterRun: true });
  for (const status of ['ok', 'error'] as const) {
    const end = jobAfter(moved, attempt(status), { isMoved: true });
    assert.deepEqual([end.kind, end.job?.enabled, end.job?.nextMs], ['final', true, 9_000]);
  }
});

test('from the second consecutive error on, a job is paused for longer and longer; the third raises an alert', () => {
  let job = someJob();
  const holds: unknown[] = [];
  for (let errors = 1; errors <= 10; errors += 1) {
    job = after(job, attempt('error')).job ?? job;
    holds.push([job.holdMs && job.holdMs - 2_000, isAlarming(job)]);
  }
  assert.deepEqual(holds.slice(0, 4), [
    [undefined, false],
    [30_000, false],
    [60_000, true],
    [120_000, true],
  ]);
  assert.deepEqual(holds.at(-1), [HOUR_MS, true]);
  const interrupted = after(job, attempt('interrupted')).job;
  assert.deepEqual([interrupted?.failures, interrupted?.holdMs], [10, job.holdMs], 'it says nothing of the job');
  const well = after(job, attempt('ok')).job;
  assert.deepEqual([well?.failures, well?.holdMs], [0, undefined]);
});

test('a missed instant shows until the next run, next to the last run; setting the clock back removes it', () => {
  const missed: Settled = { fromMs: 5_000, throughMs: 5_000, count: 1, status: 'missed', reason: 'asleep' };
  const said = { scheduledMs: 5_000, error: 'asleep' };
  const never = jobAfterMissing(someJob({ last: undefined }), [missed]);
  assert.deepEqual(never.last, { ...said, status: 'missed' });
  const run = after(someJob(), attempt('ok')).job ?? assert.fail();
  const later = jobAfterMissing(run, [missed, { ...missed, fromMs: 6_000, status: 'skipped' }]);
  assert.deepEqual(later.last, { ...run.last, missed: said });
  assert.equal(after(later, attempt('ok')).job?.last?.missed, undefined);
  const setBack = (job: Job, nowMs: number) => jobSetBack(job, { nowMs, nextMs: nowMs + 1 }).last;
  assert.deepEqual([setBack(never, 4_000), setBack(never, 5_000)], [undefined, never.last]);
  assert.deepEqual([setBack(later, 4_000)?.missed, setBack(later, 5_000)], [undefined, later.last]);
});

test('at: a missed job is disabled, until the clock is set back before its time', () => {
  const reason = 'asleep; its policy is to skip it';
  const missed: Settled = { fromMs: 1_000, throughMs: 1_000, count: 1, status: 'missed', reason };
  for (const last of [undefined, after(once(), attempt('error', { trigger: 'forced', scheduledMs: 500 })).job?.last]) {
    const over = jobAfterMissing(once({ last }), [missed]);
    assert.deepEqual([over.enabled, isMissedForGood(over)], [false, true]);
    const again = jobSetBack(over, { nowMs: 900, nextMs: 1_000 });
    assert.deepEqual([again.enabled, again.nextMs, again.handledMs], [true, 1_000, 900]);
    assert.deepEqual([again.last?.status, again.last?.missed], [last?.status, undefined]);
    assert.equal(jobSetBack(over, { nowMs: 1_500, nextMs: undefined }).enabled, false, 'its time is past still');
  }
  assert.equal(isMissedForGood(once({ enabled: false })), false, 'by hand');
  assert.equal(jobAfterMissing(someJob(), [missed]).enabled, true, 'it has another instant');
});
