import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertJob } from '../gateway/cron/job-rows.ts';
import { insertClaim, startStatements } from '../gateway/cron/occurrence-rows.ts';
import { SqlLedger } from '../gateway/cron/sql-ledger.ts';
import type { Job } from './jobs/job.ts';
import { someJob } from './jobs/job-fixture.ts';
import { schedulerFixture } from './scheduler-fixture.ts';

const NOW_MS = 1_000_000;
const MINUTE_MS = 60_000;
const AT_MS = NOW_MS + MINUTE_MS;
const minutely = (more: Partial<Job> = {}) =>
  someJob({
    schedule: { kind: 'every', everyMs: MINUTE_MS, anchorMs: NOW_MS },
    ...{ nextMs: AT_MS, sinceMs: NOW_MS },
    ...more,
  });

test('the run of a removed job is resumed after a restart and ends normally', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  await cron.pass(MINUTE_MS);
  await scheduler.change('job_1', () => undefined);
  cron.kill();
  const later = await cron.start('two', []);
  assert.deepEqual([cron.begun[1]?.job.name, later.jobCount], ['a job', 0]);
  cron.begun[1]?.end({ status: 'ok', summary: 'done' });
  await cron.settle();
  assert.deepEqual(await cron.rows(), [['job_1', AT_MS, 'ok']]);
  assert.deepEqual(cron.events, ['started job_1', 'finished job_1']);
  const kept = await cron.store.db.selectFrom('cron_occurrences').select('removed_job_json').execute();
  assert.deepEqual(kept, [{ removed_job_json: null }]);
});

test('the run of a removed job holds a slot after a restart, and its timeout still applies', async () => {
  await using cron = await schedulerFixture();
  cron.settings.maxConcurrentRuns = 1;
  const scheduler = await cron.start('one', [minutely({ maxRunMs: 90_000 })]);
  await cron.pass(MINUTE_MS);
  await scheduler.change('job_1', () => undefined);
  cron.kill();
  await cron.start('two', [minutely({ id: 'other', nextMs: AT_MS + MINUTE_MS })]);
  await cron.pass(89_999);
  assert.deepEqual(
    cron.begun.map(({ job }) => job.id),
    ['job_1', 'job_1'],
  );
  await cron.pass(1);
  assert.deepEqual(cron.begun[1]?.stoppedFor, ["It ran longer than 90 s, the job's maxRunMs"]);
  assert.deepEqual((await cron.reasons('job_1'))[0]?.[1], 'error');
  assert.equal(cron.begun[2]?.job.id, 'other');
});

test('a claim whose job was removed before it began is skipped, even after a restart', async () => {
  await using cron = await schedulerFixture();
  cron.settings.maxConcurrentRuns = 0;
  const scheduler = await cron.start('one', [minutely()]);
  await scheduler.runNow('job_1', { force: true });
  await scheduler.change('job_1', () => undefined);
  cron.kill();
  cron.settings.maxConcurrentRuns = 1;
  await cron.start('two', []);
  assert.deepEqual(await cron.reasons('job_1'), [[NOW_MS, 'skipped', 'The job was removed before it began']]);
});

test('a claim on a job that was already removed ends after a restart, with the reason', async () => {
  for (const begins of [false, true]) {
    await using cron = await schedulerFixture();
    const claim = { jobId: 'gone', scheduledMs: NOW_MS, trigger: 'forced', epoch: 1, attempts: 0 } as const;
    const start = begins ? startStatements(claim, { owner: 'one', nowMs: NOW_MS }) : [];
    await cron.store.commit({ statements: [insertClaim({ ...claim, owner: 'one', leaseMs: 0 }), ...start] });
    await cron.start('two', []);
    const end = begins
      ? ['interrupted', 'The job was removed, and Headgate stopped']
      : ['skipped', 'The job was removed before it began'];
    assert.deepEqual(await cron.reasons('gone'), [[NOW_MS, ...end]]);
  }
});

test('restarts do not extend the timeout of a run', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [minutely({ maxRunMs: 90_000 })]);
  await cron.pass(MINUTE_MS + 25_000);
  cron.kill();
  await cron.start('two', []);
  await cron.pass(25_000);
  cron.kill();
  cron.clock.jump(-24 * 60 * MINUTE_MS);
  await cron.start('three', []);
  const left = cron.begun.at(-1);
  await cron.pass(39_999);
  assert.deepEqual(left?.stoppedFor, []);
  await cron.pass(10_000);
  assert.equal(left?.stoppedFor.length, 1);
});

test('instants missed while schedules are off have that reason, even in a run by hand', async () => {
  await using cron = await schedulerFixture();
  cron.settings.enabled = false;
  const scheduler = await cron.start('one', [minutely()]);
  await cron.pass(3 * MINUTE_MS);
  assert.equal((await scheduler.runNow('job_1', { force: false })).ran, true);
  await cron.settle();
  const why = 'schedules were switched off; a later occurrence ran instead';
  assert.deepEqual(await cron.reasons('job_1'), [
    [AT_MS, 'missed', why],
    [AT_MS + MINUTE_MS, 'missed', why],
    [AT_MS + 2 * MINUTE_MS, 'started', null],
  ]);
});

test('instants missed while a dead scheduler holds the claim are not blamed on busy slots', async () => {
  await using cron = await schedulerFixture();
  const everyTenSeconds = minutely({ schedule: { kind: 'every', everyMs: 10_000, anchorMs: NOW_MS } });
  const together = { isAlone: false };
  const begin = () => new Promise<never>(() => undefined);
  await cron.start('one', [everyTenSeconds], { ...together, executor: { begin, resume: begin } });
  await cron.pass(MINUTE_MS);
  cron.kill();
  await cron.start('two', [], together);
  await cron.pass(MINUTE_MS);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  const [first, ...missed] = (await cron.reasons('job_1')).filter(([, status]) => status !== 'started');
  assert.deepEqual(first, [AT_MS, 'ok', null]);
  assert.ok(missed.length >= 2, `${missed.length}`);
  const why = 'another scheduler was in charge of the job; a later occurrence ran instead';
  for (const [, ...record] of missed.slice(0, 2)) assert.deepEqual(record, ['missed', why]);
});

test('instants missed before a scheduler learns of a job whose own scheduler died have that reason', async () => {
  await using cron = await schedulerFixture();
  const together = { isAlone: false };
  const two = await cron.start('two', [], together);
  const quick = { kind: 'every', everyMs: 2_000, anchorMs: NOW_MS } as const;
  await cron.store.commit({ statements: [insertJob(minutely({ schedule: quick, nextMs: NOW_MS + 2_000 }))] });
  await cron.pass(10_000);
  assert.equal(two.jobCount, 1);
  const why = 'another scheduler was in charge of the job; a later occurrence ran instead';
  assert.deepEqual(
    (await cron.reasons('job_1')).map(([, ...record]) => record),
    [...Array.from({ length: 4 }, () => ['missed', why]), ['started', null]],
  );
});

test('an instant is missed for want of a slot if all slots were in use, also by runs that began before it', async () => {
  await using cron = await schedulerFixture();
  cron.settings.maxConcurrentRuns = 1;
  const late = minutely({ id: 'late', misfire: 'skip', nextMs: AT_MS + MINUTE_MS });
  await cron.start('one', [minutely({ schedule: { kind: 'at', atMs: AT_MS } }), late]);
  await cron.pass(3 * MINUTE_MS + 30_000);
  assert.deepEqual(await cron.reasons('late'), []);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  const why = 'no slot was free in time; a later occurrence ran instead';
  assert.deepEqual((await cron.reasons('late'))[0], [AT_MS + MINUTE_MS, 'missed', why]);
});

test('instants missed because an occurrence could not be taken over have the store as their reason', async () => {
  await using cron = await schedulerFixture();
  const begin = () => new Promise<never>(() => undefined);
  const everyTenSeconds = minutely({ schedule: { kind: 'every', everyMs: 10_000, anchorMs: NOW_MS } });
  await cron.start('one', [everyTenSeconds], { executor: { begin, resume: begin } });
  await cron.pass(MINUTE_MS);
  cron.kill();
  cron.faults.commit = true;
  await cron.start('two', []);
  await cron.pass(35_000);
  cron.faults.commit = false;
  await cron.pass(10_000);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  const why = 'the store could not be written; a later occurrence ran instead';
  assert.deepEqual(
    (await cron.reasons('job_1')).map(([, ...record]) => record),
    [['ok', null], ...Array.from({ length: 3 }, () => ['missed', why]), ['started', null]],
  );
});

test('a run by hand that takes the place of a retry commits what its caller keeps', async () => {
  for (const force of [true, false]) {
    await using cron = await schedulerFixture();
    const at = { kind: 'at', atMs: NOW_MS + 1 } as const;
    const scheduler = await cron.start('one', [someJob({ schedule: at, nextMs: at.atMs, sinceMs: NOW_MS })]);
    await cron.pass(1);
    cron.begun[0]?.end({ status: 'error', error: 'why' });
    await cron.settle();
    cron.settings.enabled = false;
    await cron.pass(40_000);
    const keep = (scheduledMs: number) => [
      { sql: "insert into meta (key, value) values ('kept', ?)", parameters: [String(scheduledMs)] },
    ];
    assert.equal((await scheduler.runNow('job_1', { force, keep })).ran, true);
    await cron.settle();
    const kept = await cron.store.db.selectFrom('meta').selectAll().where('key', '=', 'kept').execute();
    assert.deepEqual([kept, cron.begun.length], [[{ key: 'kept', value: String(at.atMs) }], 2]);
  }
});

test('a job whose last run is damaged runs, is removed, and does not keep the scheduler busy', async () => {
  await using cron = await schedulerFixture();
  const ran = { scheduledMs: 1, status: 'ok', startedMs: 1, durationMs: 1 } as const;
  for (const [id, damaged] of [
    ['a', '{"x":1}'],
    ['b', '{"status":"ok", "scheduledMs":1}'],
    ['c', 'no JSON'],
  ] as const) {
    await cron.store.commit({ statements: [insertJob(minutely({ id, last: ran }))] });
    const change = { sql: 'update cron_jobs set last_json = ? where job_id = ?', parameters: [damaged, id] };
    await cron.store.commit({ statements: [change] });
  }
  const scheduler = await cron.start('one', []);
  assert.deepEqual(await scheduler.change('c', () => undefined), { job: undefined });
  await cron.pass(MINUTE_MS);
  assert.deepEqual(new Set(cron.begun.map(({ job }) => job.id)), new Set(['a', 'b']));
  for (const { end } of cron.begun) end({ status: 'ok' });
  await cron.pass(MINUTE_MS);
  assert.deepEqual([scheduler.job('a')?.last?.scheduledMs, cron.begun.length], [AT_MS, 4]);
});

test('a claim that is refused although nothing has changed is tried again after a second', async () => {
  await using cron = await schedulerFixture();
  const { store, clock } = cron;
  const ledger = new SqlLedger({ store, clock, owner: 'one', tellMain: () => assert.fail('nothing is told') });
  let claims = 0;
  ledger.advance = async () => {
    claims += 1;
    return undefined;
  };
  await cron.start('one', [minutely()], { ledger });
  await cron.pass(MINUTE_MS + 5_000);
  assert.ok(claims > 1 && claims <= 6, `${claims} claims`);
});

test('the recorded duration of a run is the one in its event, by the steady clock', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [minutely()]);
  await cron.pass(MINUTE_MS + 5_000);
  cron.clock.jump(20_000);
  cron.begun[0]?.end({ status: 'ok' });
  await cron.settle();
  const [row] = await cron.store.db.selectFrom('cron_occurrences').select('duration_ms').execute();
  assert.deepEqual([row?.duration_ms, scheduler.job('job_1')?.last?.durationMs], [5_000, 5_000]);
});
