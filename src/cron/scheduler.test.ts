import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertJob } from '../gateway/cron/job-rows.ts';
import { changedJob } from './jobs/define-job.ts';
import type { Job } from './jobs/job.ts';
import { someJob } from './jobs/job-fixture.ts';
import { schedulerFixture } from './scheduler-fixture.ts';

const NOW_MS = 1_000_000;
const MINUTE_MS = 60_000;
/** Runs each minute, first in one minute. */
const minutely = (more: Partial<Job> = {}) =>
  someJob({
    schedule: { kind: 'every', everyMs: MINUTE_MS, anchorMs: NOW_MS },
    ...{ nextMs: NOW_MS + MINUTE_MS, sinceMs: NOW_MS },
    ...more,
  });

test('a job fires on time, once, and its end is recorded', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  await cron.pass(MINUTE_MS - 1);
  assert.deepEqual([cron.begun.length, scheduler.nextWakeMs()], [0, NOW_MS + MINUTE_MS]);
  await cron.pass(1);
  assert.deepEqual(await cron.rows(), [['job_1', NOW_MS + MINUTE_MS, 'started']]);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(await cron.rows(), [['job_1', NOW_MS + MINUTE_MS, 'ok']]);
  assert.deepEqual(
    [cron.events, scheduler.nextRunMs('job_1')],
    [['started job_1', 'finished job_1'], NOW_MS + 2 * MINUTE_MS],
  );
});

test('the number of concurrent runs is limited, and a job never runs twice at once', async () => {
  await using cron = await schedulerFixture();
  const jobs = ['a', 'b', 'c'].map((id) => minutely({ id }));
  const scheduler = await cron.start('one', jobs);
  await cron.pass(MINUTE_MS);
  assert.equal(cron.begun.length, 2);
  assert.deepEqual(await scheduler.runNow(cron.begun[0]?.job.id ?? '', { force: true }), {
    ...{ ran: false, reason: 'already-running' },
  });
  await cron.pass(5 * MINUTE_MS);
  assert.equal(cron.begun.length, 2);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(cron.begun.map(({ job }) => job.id).sort(), ['a', 'b', 'c']);
});

test('instants during a run are skipped, in the transaction of its end', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [minutely()]);
  await cron.pass(3 * MINUTE_MS);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(
    (await cron.rows()).map(([, atMs, status]) => [(atMs - NOW_MS) / MINUTE_MS, status]),
    [
      [1, 'ok'],
      [2, 'skipped'],
      [3, 'skipped'],
    ],
  );
});

test('jobs are changed, removed and listed while they run, without waiting for them', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely(), minutely({ id: 'job_2' })]);
  await cron.pass(MINUTE_MS);
  await scheduler.change('job_1', () => undefined);
  await scheduler.change('job_2', (job) =>
    changedJob(job, { enabled: false }, { nowMs: cron.clock.now(), hostTimeZone: 'UTC' }),
  );
  assert.deepEqual(
    [...scheduler.jobs()].map(({ id, enabled }) => [id, enabled]),
    [['job_2', false]],
  );
  for (const { end } of cron.begun) end({ status: 'error', error: 'why' });
  await cron.settle();
  assert.deepEqual(
    (await cron.rows()).map(([, , status]) => status),
    ['error', 'error'],
  );
  assert.equal(scheduler.job('job_2')?.enabled, false);
  await cron.pass(5 * MINUTE_MS);
  assert.equal(cron.begun.length, 2);
});

test('a run requested by a caller: due, not due, forced', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  assert.deepEqual(await scheduler.runNow('job_1', { force: false }), { ran: false, reason: 'not-due' });
  const forced = await scheduler.runNow('job_1', { force: true });
  assert.ok(forced.ran);
  await cron.settle();
  cron.begun[0]?.end({ status: 'ok' });
  assert.equal((await forced.ended).status, 'ok');
  assert.deepEqual(await cron.rows(), [['job_1', NOW_MS, 'ok']]);
  assert.equal(scheduler.nextRunMs('job_1'), NOW_MS + MINUTE_MS, 'the schedule is not moved');
});

test('a claim that waits for a slot is given up when its job is removed', async () => {
  await using cron = await schedulerFixture();
  const jobs = ['a', 'b', 'c'].map((id) => minutely({ id }));
  const scheduler = await cron.start('one', jobs);
  for (const { id } of jobs) await scheduler.runNow(id, { force: true });
  await cron.settle();
  await scheduler.change('c', () => undefined);
  for (const { end } of cron.begun) end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(
    (await cron.rows()).filter(([id]) => id === 'c'),
    [['c', NOW_MS, 'skipped']],
  );
  assert.equal(cron.begun.length, 2);
});

test('a store that cannot be written loses nothing', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [minutely()]);
  cron.faults.commit = true;
  await cron.pass(MINUTE_MS + 10_000);
  assert.deepEqual(await cron.rows(), []);
  cron.faults.commit = false;
  await cron.pass(1_000);
  assert.deepEqual(await cron.rows(), [['job_1', NOW_MS + MINUTE_MS, 'started']]);
  cron.faults.commit = true;
  cron.begun[0]?.end({ status: 'ok' });
  await cron.pass(5_000);
  cron.faults.commit = false;
  await cron.pass(1_000);
  assert.deepEqual(await cron.rows(), [['job_1', NOW_MS + MINUTE_MS, 'ok']]);
});

test('a run that takes too long is stopped', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [minutely({ maxRunMs: 90_000 })]);
  await cron.pass(MINUTE_MS + 89_999);
  assert.deepEqual(cron.begun[0]?.stoppedFor, []);
  await cron.pass(1);
  assert.deepEqual(cron.begun[0]?.stoppedFor, ["It ran longer than 90 s, the job's maxRunMs"]);
  assert.equal((await cron.rows())[0]?.[2], 'error');
});

test('a run that ignores its stop blocks no other job, and its job never runs twice at once', async () => {
  await using cron = await schedulerFixture();
  cron.faults.isDeaf = true;
  cron.settings.maxConcurrentRuns = 1;
  const jobs = [minutely({ id: 'deaf', maxRunMs: 90_000 }), minutely({ id: 'other', nextMs: NOW_MS + 2 * MINUTE_MS })];
  await cron.start('one', jobs);
  await cron.pass(MINUTE_MS + 90_000 + 59_999);
  assert.deepEqual(
    cron.begun.map(({ job, stoppedFor }) => [job.id, stoppedFor.length]),
    [['deaf', 1]],
  );
  await cron.pass(1);
  assert.deepEqual(
    cron.begun.map(({ job }) => job.id),
    ['deaf', 'other'],
  );
  cron.begun[1]?.end({ status: 'ok' });
  cron.faults.isDeaf = false;
  await cron.pass(10 * MINUTE_MS);
  const others = cron.begun.splice(1);
  assert.ok(others.every(({ job }) => job.id === 'other'));
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual((await cron.rows()).find(([id]) => id === 'deaf')?.slice(1), [NOW_MS + MINUTE_MS, 'ok']);
  for (const { end } of others) end({ status: 'ok' });
  await cron.pass(MINUTE_MS);
  assert.equal(cron.begun.length, 2, 'one more: there is one slot again, not two');
});

test('a failed instant is retried, and given up when its job is disabled meanwhile', async () => {
  await using cron = await schedulerFixture();
  const at = { kind: 'at', atMs: NOW_MS + 1 } as const;
  const scheduler = await cron.start('one', [minutely({ schedule: at, nextMs: at.atMs })]);
  await cron.pass(1);
  cron.begun[0]?.end({ status: 'error', error: 'why' });
  await cron.settle();
  assert.deepEqual([(await cron.rows())[0]?.[2], scheduler.nextRunMs('job_1')], ['retrying', at.atMs + 30_000]);
  await cron.pass(30_000);
  assert.deepEqual([cron.begun.length, cron.begun[1]?.claim.attempts], [2, 1]);
  cron.begun[1]?.end({ status: 'error', error: 'why' });
  await cron.settle();
  await scheduler.change('job_1', (job) =>
    changedJob(job, { enabled: false }, { nowMs: cron.clock.now(), hostTimeZone: 'UTC' }),
  );
  await cron.settle();
  assert.equal((await cron.rows())[0]?.[2], 'error');
});

test('of two schedulers on one store, one runs the job and keeps renewing its claim', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [minutely()], { isAlone: false });
  await cron.start('two', [], { isAlone: false });
  await cron.pass(MINUTE_MS);
  assert.equal(cron.begun.length, 1);
  await cron.pass(2 * MINUTE_MS);
  assert.equal(cron.begun.length, 1, 'its owner renews the claim');
});

test('jobs that another scheduler adds, changes or removes are noticed in time', async () => {
  await using cron = await schedulerFixture();
  const one = await cron.start('one', [minutely()], { isAlone: false });
  const two = await cron.start('two', [], { isAlone: false });
  const daily = { kind: 'every', everyMs: 1_440 * MINUTE_MS, anchorMs: NOW_MS } as const;
  const rare = minutely({ id: 'job_2', schedule: daily, nextMs: NOW_MS + 1_440 * MINUTE_MS });
  await one.add(rare, () => cron.store.commit({ statements: [insertJob(rare)] }));
  await cron.pass(MINUTE_MS / 4);
  assert.deepEqual(two.job('job_2'), rare);
  const often = { kind: 'every', everyMs: MINUTE_MS, anchorMs: NOW_MS } as const;
  await one.change('job_2', (job) => changedJob(job, { schedule: often }, { nowMs: NOW_MS, hostTimeZone: 'UTC' }));
  await one.change('job_1', () => undefined);
  await cron.pass(MINUTE_MS / 4);
  assert.deepEqual([two.job('job_1'), two.nextRunMs('job_2')], [undefined, NOW_MS + MINUTE_MS]);
});

test('instants that ran before the clock was set back do not run again; later ones do', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  await cron.pass(MINUTE_MS);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  cron.clock.jump(-10 * MINUTE_MS);
  await cron.pass(MINUTE_MS);
  assert.equal(scheduler.nextRunMs('job_1'), NOW_MS, 'its anchor');
  await cron.pass(8 * MINUTE_MS);
  cron.begun[1]?.end({ status: 'ok' });
  await cron.pass(2 * MINUTE_MS);
  assert.deepEqual(
    cron.begun.map(({ claim }) => claim.scheduledMs - NOW_MS),
    [MINUTE_MS, 0, 2 * MINUTE_MS],
  );
});

test('a job whose only time is missed is disabled, and enabled again when the clock is set back', async () => {
  await using cron = await schedulerFixture();
  const atMs = NOW_MS + MINUTE_MS;
  const once = minutely({ schedule: { kind: 'at', atMs }, nextMs: atMs, misfire: 'skip' });
  const scheduler = await cron.start('one', [once]);
  cron.clock.jump(10 * MINUTE_MS);
  await cron.pass(MINUTE_MS);
  assert.deepEqual(await cron.rows(), [['job_1', atMs, 'missed']]);
  const { enabled, last } = scheduler.job('job_1') ?? assert.fail();
  assert.deepEqual(
    [enabled, last?.status, last?.error],
    [
      false,
      'missed',
      'the machine slept, or its clock was set forward; its policy skips occurrences more than 60 s late',
    ],
  );
  cron.clock.jump(-12 * MINUTE_MS);
  await cron.pass(MINUTE_MS);
  assert.deepEqual([await cron.rows(), scheduler.nextRunMs('job_1')], [[], atMs]);
  await cron.pass(MINUTE_MS);
  assert.deepEqual(await cron.rows(), [['job_1', atMs, 'started']]);
});

test('a job whose only time comes during a failing run by hand runs afterwards', async () => {
  await using cron = await schedulerFixture();
  const atMs = NOW_MS + MINUTE_MS;
  const scheduler = await cron.start('one', [minutely({ schedule: { kind: 'at', atMs }, nextMs: atMs })]);
  await scheduler.runNow('job_1', { force: true });
  await cron.pass(2 * MINUTE_MS);
  cron.begun[0]?.end({ status: 'error', error: 'why' });
  await cron.settle();
  assert.deepEqual(
    (await cron.rows()).map(([, ms, status]) => [ms, status]),
    [
      [NOW_MS, 'error'],
      [atMs, 'started'],
    ],
  );
});
