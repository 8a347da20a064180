import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { someJob } from './jobs/job-fixture.ts';
import { Lateness } from './lateness.ts';

const NOW_MS = 1_000_000;
const HOUR_MS = 3_600_000;

test('an instant is late because it was not noticed, or because no slot was free', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock);
  const why = (scheduledMs: number) => lateness.why(someJob(), scheduledMs);
  assert.equal(why(NOW_MS - 1), 'Headgate was not running');
  assert.equal(why(NOW_MS), 'no slot was free in time');
  await clock.advance(60_000);
  clock.jump(HOUR_MS);
  assert.equal(why(2 * NOW_MS), 'the machine slept, or its clock was set forward');
  await clock.advance(60_000);
  assert.equal(why(clock.now() - 1), 'no slot was free in time');
});

test('an instant is late because schedules were switched off, even while they still are', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock);
  const why = (scheduledMs: number) => lateness.why(someJob(), scheduledMs);
  await clock.advance(60_000);
  const offMs = clock.now();
  lateness.isAway('schedules were switched off');
  await clock.advance(60_000);
  lateness.isAway('schedules were switched off');
  assert.deepEqual([why(offMs - 1), why(offMs)], ['no slot was free in time', 'schedules were switched off']);
  clock.jump(-100_000);
  await clock.advance(60_000);
  lateness.awakeMs();
  assert.equal(why(clock.now()), 'schedules were switched off', 'the clock was set back meanwhile');
  lateness.isBack();
  assert.equal(why(clock.now() - 1), 'schedules were switched off');
  assert.equal(why(clock.now()), 'no slot was free in time');
});

test('an instant is late because it had passed when the job was created or changed, if that alone was too late', () => {
  const lateness = new Lateness(fakeClock(NOW_MS));
  const atMs = NOW_MS - HOUR_MS;
  const made = someJob({ misfire: 'skip', schedule: { kind: 'at', atMs }, createdMs: NOW_MS, sinceMs: NOW_MS });
  assert.equal(lateness.why(made, atMs), 'its time had already passed when the job was added');
  assert.equal(lateness.why({ ...made, createdMs: 0 }, atMs), 'its time had already passed when the job was changed');
  const lenient = { ...made, misfire: { within: 2 * HOUR_MS }, sinceMs: NOW_MS - 1 };
  assert.equal(lateness.why(lenient, atMs), 'Headgate was not running');
  assert.equal(lateness.why({ ...lenient, sinceMs: NOW_MS }, atMs), 'no slot was free in time');
});

test('an instant is late because the previous run was still in progress', () => {
  const lateness = new Lateness(fakeClock(NOW_MS));
  const ran = (startedMs: number) =>
    someJob({ last: { scheduledMs: startedMs, startedMs, durationMs: 1_000, status: 'error' } });
  assert.equal(lateness.why(ran(NOW_MS), NOW_MS + 500), 'the previous run was still in progress');
  assert.equal(lateness.why(ran(NOW_MS), NOW_MS + 1_001), 'no slot was free in time');
});

test('a run that continues over a restart is the reason for lateness, not the restart', async () => {
  const lateness = new Lateness(fakeClock(NOW_MS));
  const last = { scheduledMs: 0, startedMs: NOW_MS - 60_000, durationMs: HOUR_MS, status: 'ok' as const };
  assert.equal(lateness.why(someJob({ last, sinceMs: 0 }), NOW_MS - 1), 'the previous run was still in progress');
  assert.equal(lateness.why(someJob({ last, sinceMs: 0 }), NOW_MS - 60_001), 'Headgate was not running');
});

test('the reason says if the process was stopped or could not write', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock);
  const why = (scheduledMs: number, changes = {}) => lateness.why(someJob({ sinceMs: 0, ...changes }), scheduledMs);
  lateness.naps(10_000);
  await clock.advance(40_000);
  assert.equal(why(NOW_MS + 39_999), 'Headgate was unresponsive');
  lateness.naps(60_000);
  await clock.advance(1_000);
  lateness.storeFailed();
  assert.equal(why(NOW_MS + 41_000), 'the store could not be written');
  assert.equal(why(NOW_MS + 41_001), 'no slot was free in time');
  assert.equal(why(NOW_MS + 41_001, { misfire: 'all' }), 'earlier runs were in progress, or no slot was free');
});

test('an instant that did not begin is missed according to its policy', async () => {
  const clock = fakeClock(NOW_MS);
  const lateness = new Lateness(clock);
  const job = someJob({ misfire: 'skip' });
  await clock.advance(60_000);
  assert.equal(lateness.missed(job, NOW_MS), undefined);
  await clock.advance(1);
  const error = 'no slot was free in time; its policy skips occurrences more than 60 s late';
  assert.deepEqual(lateness.missed(job, NOW_MS), { status: 'missed', error });
});
