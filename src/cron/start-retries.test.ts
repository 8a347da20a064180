import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedJob } from './jobs/define-job.ts';
import type { Job } from './jobs/job.ts';
import { someJob } from './jobs/job-fixture.ts';
import { schedulerFixture } from './scheduler-fixture.ts';

const NOW_MS = 1_000_000;
const DUE_MS = NOW_MS + 1_000;
/** Due in a second, and then each hour. */
const hourly = (more: Partial<Job> = {}) =>
  someJob({
    schedule: { kind: 'every', everyMs: 3_600_000, anchorMs: DUE_MS },
    ...{ nextMs: DUE_MS, sinceMs: NOW_MS, createdMs: NOW_MS },
    ...more,
  });

/** Jobs whose start is retried until `faults.begin` is false. */
async function retrying(jobs: readonly Job[]) {
  const cron = await schedulerFixture();
  cron.settings.maxConcurrentRuns = jobs.length;
  cron.faults.begin = true;
  const scheduler = await cron.start('one', jobs);
  await cron.pass(2_000);
  assert.deepEqual(
    (await cron.rows()).map(([, , status]) => status),
    jobs.map(() => 'claimed'),
  );
  const change = (id: string, changes: Parameters<typeof changedJob>[1]) =>
    scheduler.change(id, (job) => changedJob(job, changes, { nowMs: cron.clock.now(), hostTimeZone: 'UTC' }));
  return { cron, scheduler, change };
}

test('a job whose start is retried does not run after it is removed, disabled or too late, and runs as edited', async () => {
  const ids = ['disabled', 'edited', 'removed', 'skip'];
  const jobs = ids.map((id) => hourly({ id, ...(id === 'skip' && { misfire: 'skip' }) }));
  const { cron, scheduler, change } = await retrying(jobs);
  await using _ = cron;
  await scheduler.change('removed', () => undefined);
  await change('disabled', { enabled: false });
  await change('edited', { payload: { kind: 'agentTurn', message: 'another one' } });
  await cron.pass(120_000);
  cron.faults.begin = false;
  await cron.pass(60_000);
  assert.deepEqual(
    cron.begun.map(({ job }) => [job.id, job.payload]),
    [['edited', { kind: 'agentTurn', message: 'another one' }]],
  );
  const reasons = await Promise.all(ids.map(async (id) => (await cron.reasons(id))[0]?.slice(1)));
  assert.deepEqual(reasons, [
    ['skipped', 'The job was disabled before it began'],
    ['started', null],
    ['skipped', 'The job was removed before it began'],
    ['missed', 'it could not start: not now; its policy skips occurrences more than 60 s late'],
  ]);
});

test('what waited while schedules were off runs when they are on again', async () => {
  const { cron, scheduler } = await retrying([hourly()]);
  await using _ = cron;
  cron.settings.enabled = false;
  await cron.pass(60_000);
  cron.faults.begin = false;
  cron.settings.enabled = true;
  scheduler.look();
  await cron.settle();
  assert.equal(cron.begun.length, 1);
});

test('a claimed occurrence waits while schedules are off, also after a restart, and other runs begin', async () => {
  const { cron, scheduler } = await retrying([hourly({ id: 'a' }), hourly({ id: 'b' })]);
  await using _ = cron;
  cron.settings.enabled = false;
  await cron.pass(60_000);
  cron.faults.begin = false;
  await scheduler.add(hourly({ id: 'c', nextMs: NOW_MS + 3_600_000 }), async () => undefined);
  await cron.pass(60_000);
  assert.equal(cron.begun.length, 0);
  cron.kill();
  await cron.settle();
  const next = await cron.start('two', [hourly({ id: 'd', nextMs: NOW_MS + 3_600_000 })]);
  await cron.pass(60_000);
  assert.equal(cron.begun.length, 0);
  assert.equal((await next.runNow('d', { force: true })).ran, true);
  await cron.settle();
  assert.deepEqual(
    cron.begun.map(({ job }) => job.id),
    ['d'],
    'what waits holds no slot',
  );
  const keep = (scheduledMs: number) => [
    { sql: "insert into meta (key, value) values ('kept', ?)", parameters: [String(scheduledMs)] },
  ];
  cron.settings.maxConcurrentRuns = 3;
  cron.faults.commit = true;
  await assert.rejects(next.runNow('a', { force: true, keep }), /disk/);
  cron.faults.commit = false;
  assert.equal((await next.runNow('a', { force: true, keep })).ran, true);
  await cron.settle();
  assert.deepEqual(
    cron.begun.map(({ claim: { jobId, scheduledMs } }) => [jobId, scheduledMs]).slice(1),
    [['a', DUE_MS]],
    'a caller may run what waits',
  );
  const kept = await cron.store.db.selectFrom('meta').select('value').where('key', '=', 'kept').execute();
  assert.deepEqual(kept, [{ value: String(DUE_MS) }]);
  await next.change('b', () => undefined);
  await cron.settle();
  assert.deepEqual((await cron.reasons('b'))[0]?.slice(1), ['skipped', 'The job was removed before it began']);
});
