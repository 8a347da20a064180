import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedulerFixture } from '../scheduler-fixture.ts';
import { changedJob } from './define-job.ts';
import type { Job } from './job.ts';
import { someJob } from './job-fixture.ts';

const NOW_MS = 1_000_000;
const MINUTE_MS = 60_000;
const EVERY = { kind: 'every', everyMs: MINUTE_MS, anchorMs: NOW_MS } as const;
const HOURLY = { ...EVERY, everyMs: 60 * MINUTE_MS };
const minute = (count: number) => NOW_MS + count * MINUTE_MS;
const minutely = (more: Partial<Job> = {}) => someJob({ schedule: EVERY, nextMs: minute(1), sinceMs: NOW_MS, ...more });

type Patch = Parameters<typeof changedJob>[1];

/** A scheduler whose only slot is taken, and a job `waits` that was due a second ago. */
async function waiting(more: Partial<Job> = {}) {
  const cron = await schedulerFixture();
  cron.settings.maxConcurrentRuns = 1;
  const scheduler = await cron.start('one', [minutely({ id: 'busy' }), minutely({ id: 'waits', ...more })]);
  await cron.pass(MINUTE_MS + 1_000);
  assert.deepEqual(
    cron.begun.map(({ job }) => job.id),
    ['busy'],
  );
  return {
    ...cron,
    scheduler,
    change: (patch: Patch) =>
      scheduler.change('waits', (job) => changedJob(job, patch, { nowMs: cron.clock.now(), hostTimeZone: 'UTC' })),
  };
}

test('a waiting instant is skipped with the reason, and announced, when its job is changed, disabled or removed', async () => {
  const changes = {
    changed: { schedule: HOURLY },
    disabled: { enabled: false },
    removed: undefined,
  };
  for (const [what, patch] of Object.entries(changes)) {
    await using cron = await waiting();
    await (patch ? cron.change(patch) : cron.scheduler.change('waits', () => undefined));
    assert.deepEqual(await cron.reasons('waits'), [[minute(1), 'skipped', `The job was ${what} before it began`]]);
    assert.deepEqual(cron.events, ['started busy', 'missed waits']);
    cron.begun[0]?.end({ status: 'ok' });
    await cron.settle();
    assert.equal(cron.begun.length, 1);
  }
});

test('a job that gets its own schedule again still runs at the waiting instant', async () => {
  await using cron = await waiting();
  await cron.change({ name: 'new', schedule: EVERY });
  assert.deepEqual([await cron.reasons('waits'), cron.scheduler.nextRunMs('waits')], [[], minute(1)]);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(cron.begun.map(({ job, claim }) => [job.name, claim.scheduledMs]).at(-1), ['new', minute(1)]);
});

test('instants during a run get their records even if the job is changed and disabled before the run ends', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  const change = (patch: Patch) =>
    scheduler.change('job_1', (job) => changedJob(job, patch, { nowMs: cron.clock.now(), hostTimeZone: 'UTC' }));
  await cron.pass(2 * MINUTE_MS);
  await change({ schedule: { ...EVERY, anchorMs: NOW_MS + 1_000 } });
  await cron.pass(MINUTE_MS + 1_000);
  await change({ enabled: false });
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  assert.deepEqual(await cron.reasons('job_1'), [
    [minute(1), 'ok', null],
    [minute(2), 'skipped', 'The job was changed before it began'],
    [minute(2) + 1_000, 'skipped', 'The job was disabled before it began'],
    [minute(3) + 1_000, 'skipped', 'The job was disabled before it began'],
  ]);
});

test('instants that were not due leave no record when their job is changed', async () => {
  for (const job of [minutely({ nextMs: minute(2) }), minutely({ enabled: false, nextMs: undefined })]) {
    await using cron = await schedulerFixture();
    const scheduler = await cron.start('one', [job]);
    await cron.pass(MINUTE_MS);
    await scheduler.change('job_1', () => undefined);
    assert.deepEqual([await cron.rows(), cron.events], [[], []]);
  }
});

test('a disabled job whose only time has passed can be enabled only with a new time', async () => {
  await using cron = await waiting({ schedule: { kind: 'at', atMs: minute(1) } });
  await cron.change({ enabled: false });
  await assert.rejects(cron.change({ enabled: true }), { code: 'INVALID_REQUEST', message: /^enabled: .* is over/ });
  await cron.change({ enabled: true, schedule: { kind: 'at', atMs: minute(2) } });
  cron.begun[0]?.end({ status: 'ok' });
  await cron.pass(MINUTE_MS);
  assert.deepEqual(await cron.reasons('waits'), [
    [minute(1), 'skipped', 'The job was disabled before it began'],
    [minute(2), 'started', null],
  ]);
});

test('if the store cannot be written, the job and its waiting instant stay unchanged', async () => {
  await using cron = await waiting();
  cron.faults.commit = true;
  await assert.rejects(cron.change({ enabled: false }), /cannot write to the disk/);
  cron.faults.commit = false;
  assert.deepEqual([cron.scheduler.job('waits')?.enabled, await cron.reasons('waits')], [true, []]);
});

test('a change of a job that another scheduler has just moved is refused, and the job is reloaded', async () => {
  await using cron = await schedulerFixture();
  const one = await cron.start('one', [minutely({ id: 'moved' })]);
  const { revision } = one.job('moved') ?? assert.fail();
  await cron.store.commit({
    statements: [{ sql: "update cron_jobs set revision = ? where job_id = 'moved'", parameters: [revision + 1] }],
  });
  assert.equal(await one.change('moved', () => undefined), 'refused');
  assert.equal(one.job('moved')?.revision, revision + 1);
  assert.deepEqual(await one.change('moved', () => undefined), { job: undefined });
  assert.equal(await one.change('moved', () => undefined), 'unknown');
});
