import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import type { Job } from './jobs/job.ts';
import { someJob } from './jobs/job-fixture.ts';
import { Lateness } from './lateness.ts';

const NOW_MS = 1_000_000;
const HOUR_MS = 3_600_000;
/** No other scheduler was in charge of a job. */
const NOBODY = { othersMs: () => 0 };

test('an instant is late because it was not noticed', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  const why = (scheduledMs: number) => lateness.why(someJob(), scheduledMs);
  assert.equal(why(NOW_MS - 1), 'Headgate was not running');
  assert.equal(why(NOW_MS), 'it was noticed late');
  await clock.advance(60_000);
  clock.jump(HOUR_MS);
  assert.equal(why(2 * NOW_MS), 'the machine slept, or its clock was set forward');
  await clock.advance(60_000);
  assert.equal(why(clock.now() - 1), 'it was noticed late');
});

test('an instant is late because schedules were switched off, even while they still are', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  const why = (scheduledMs: number) => lateness.why(someJob(), scheduledMs);
  await clock.advance(60_000);
  const offMs = clock.now();
  lateness.isAway('schedules were switched off');
  await clock.advance(60_000);
  lateness.isAway('schedules were switched off');
  assert.deepEqual([why(offMs - 1), why(offMs)], ['it was noticed late', 'schedules were switched off']);
  clock.jump(-100_000);
  await clock.advance(60_000);
  lateness.awakeMs();
  assert.equal(why(clock.now()), 'schedules were switched off', 'the clock was set back meanwhile');
  lateness.isBack();
  assert.equal(why(clock.now() - 1), 'schedules were switched off');
  assert.equal(why(clock.now()), 'it was noticed late');
});

test('an instant is late because it had passed when the job was created or changed, if that alone was too late', () => {
  const lateness = new Lateness(fakeClock(NOW_MS), NOBODY);
  const atMs = NOW_MS - HOUR_MS;
  const made = someJob({ misfire: 'skip', schedule: { kind: 'at', atMs }, createdMs: NOW_MS, sinceMs: NOW_MS });
  assert.equal(lateness.why(made, atMs), 'its time had already passed when the job was added');
  assert.equal(lateness.why({ ...made, createdMs: 0 }, atMs), 'its time had already passed when the job was changed');
  const lenient = { ...made, misfire: { within: 2 * HOUR_MS }, sinceMs: NOW_MS - 1 };
  assert.equal(lateness.why(lenient, atMs), 'Headgate was not running');
  assert.equal(lateness.why({ ...lenient, sinceMs: NOW_MS }, atMs), 'it was noticed late');
});

test('an instant is late because the previous run was still in progress', () => {
  const lateness = new Lateness(fakeClock(NOW_MS), NOBODY);
  const ran = (startedMs: number) =>
    someJob({ last: { scheduledMs: startedMs, startedMs, durationMs: 1_000, status: 'error' } });
  assert.equal(lateness.why(ran(NOW_MS), NOW_MS + 500), 'the previous run was still in progress');
  assert.equal(lateness.why(ran(NOW_MS), NOW_MS + 1_001), 'it was noticed late');
});

test('a run that continues over a restart is the reason for lateness, not the restart', async () => {
  const lateness = new Lateness(fakeClock(NOW_MS), NOBODY);
  const last = { scheduledMs: 0, startedMs: NOW_MS - 60_000, durationMs: HOUR_MS, status: 'ok' as const };
  assert.equal(lateness.why(someJob({ last, sinceMs: 0 }), NOW_MS - 1), 'the previous run was still in progress');
  assert.equal(lateness.why(someJob({ last, sinceMs: 0 }), NOW_MS - 60_001), 'Headgate was not running');
});

test('the reason says if the process was stopped or could not write', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  const why = (scheduledMs: number, changes = {}) => lateness.why(someJob({ sinceMs: 0, ...changes }), scheduledMs);
  lateness.naps(10_000);
  await clock.advance(40_000);
  assert.equal(why(NOW_MS + 39_999), 'Headgate was unresponsive');
  lateness.naps(60_000);
  await clock.advance(1_000);
  lateness.storeFailed();
  assert.equal(why(NOW_MS + 41_000), 'the store could not be written');
  assert.equal(why(NOW_MS + 41_001), 'it was noticed late');
});

test('an instant is late because no slot was free only if all were in use since it was due', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  const why = (scheduledMs: number) => lateness.why(someJob({ sinceMs: 0 }), scheduledMs);
  await clock.advance(10_000);
  lateness.setFull(true);
  assert.deepEqual([why(NOW_MS + 9_999), why(NOW_MS + 10_000)], ['it was noticed late', 'no slot was free in time']);
  await clock.advance(10_000);
  lateness.setFull(false);
  lateness.setFull(false);
  assert.deepEqual([NOW_MS, NOW_MS + 20_000, NOW_MS + 20_001].map(why), [
    'no slot was free in time',
    'no slot was free in time',
    'it was noticed late',
  ]);
  lateness.setFull(true);
  clock.jump(-15_000);
  lateness.awakeMs();
  await clock.advance(1_000);
  assert.equal(why(clock.now()), 'no slot was free in time', 'the clock was set back meanwhile');
  lateness.setFull(false);
  await clock.advance(1_000);
  assert.equal(why(clock.now()), 'it was noticed late');
});

test('with the policy all, an instant is late because of earlier runs only if one may have been in its way', () => {
  const lateness = new Lateness(fakeClock(NOW_MS), NOBODY);
  const inTheWay = 'earlier runs were in progress, or no slot was free';
  const why = (last?: Job['last']) => lateness.why(someJob({ misfire: 'all', last, sinceMs: 0 }), NOW_MS);
  const ran = { scheduledMs: NOW_MS - 5_000, status: 'ok', durationMs: 1_000 } as const;
  assert.equal(why({ ...ran, startedMs: NOW_MS + 10 }), inTheWay);
  assert.equal(why({ scheduledMs: NOW_MS - 5_000, status: 'error' }), inTheWay, 'it never started');
  assert.equal(why({ ...ran, startedMs: NOW_MS - 1_001 }), 'it was noticed late');
  assert.deepEqual([why(), why({ scheduledMs: 0, status: 'missed' })], ['it was noticed late', 'it was noticed late']);
  lateness.setFull(true);
  assert.equal(why(), inTheWay);
});

test('an instant is late because another scheduler was in charge of the job', () => {
  const lateness = new Lateness(fakeClock(NOW_MS), { othersMs: (jobId) => (jobId === 'job_1' ? NOW_MS + 500 : 0) });
  const theirs = 'another scheduler was in charge of the job';
  const why = (id: string, atMs: number) => lateness.why(someJob({ id, sinceMs: 0 }), atMs);
  assert.deepEqual(
    [why('job_1', NOW_MS + 500), why('job_1', NOW_MS + 501), why('job_2', NOW_MS)],
    [theirs, 'it was noticed late', 'it was noticed late'],
  );
});

test('if sleep is noticed at the moment in which schedules are on again, it is the reason', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  lateness.isAway('schedules were switched off');
  await clock.advance(60_000);
  clock.jump(HOUR_MS);
  lateness.awakeMs();
  lateness.isBack();
  assert.equal(
    lateness.why(someJob({ sinceMs: 0 }), clock.now() - 1),
    'the machine slept, or its clock was set forward',
  );
});

test('an instant that did not begin is missed according to its policy', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock, NOBODY);
  const job = someJob({ misfire: 'skip' });
  await clock.advance(60_000);
  assert.equal(lateness.missed(job, NOW_MS), undefined);
  await clock.advance(1);
  const error = 'it was noticed late; its policy skips occurrences more than 60 s late';
  assert.deepEqual(lateness.missed(job, NOW_MS), { status: 'missed', error });
});
