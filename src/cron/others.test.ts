import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertJob } from '../gateway/cron/job-rows.ts';
import { build, statementOf } from '../gateway/store/statements.ts';
import { someJob } from './jobs/job-fixture.ts';
import { schedulerFixture } from './scheduler-fixture.ts';

const MINUTE_MS = 60_000;
const job = someJob({
  schedule: { kind: 'every', everyMs: MINUTE_MS, anchorMs: 1_000_000 },
  nextMs: 1_060_000,
  sinceMs: 1_000_000,
});

test('a scheduler runs jobs that another one had from the moment that it gets them', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', []);
  await cron.store.commit({ statements: [insertJob(job)] });
  await cron.pass(2 * MINUTE_MS);
  assert.deepEqual([scheduler.job(job.id), cron.begun.length], [undefined, 0]);
  scheduler.takeIn([job.id, 'nothing']);
  await cron.settle();
  assert.deepEqual([scheduler.job(job.id)?.id, cron.begun.length], [job.id, 1]);
  assert.match(JSON.stringify(await cron.reasons(job.id)), /another scheduler was in charge of the job/);
});

test('a run that another scheduler began goes on at once, although its lease has not ended', async () => {
  await using cron = await schedulerFixture();
  await cron.start('one', [job]);
  await cron.pass(MINUTE_MS);
  const [run] = cron.begun;
  assert.equal(run?.job.id, job.id);
  cron.kill();
  await cron.store.commit({ statements: toMachine('moving w') });
  const next = await cron.start('two', []);
  assert.deepEqual([next.jobCount, cron.begun.length], [0, 1]);
  await cron.store.commit({ statements: toMachine(null) });
  next.takeIn([job.id]);
  await cron.settle();
  cron.begun[1]?.end({ status: 'ok', summary: 'done' });
  await cron.settle();
  assert.deepEqual(await cron.rows(), [[job.id, 1_060_000, 'ok']]);
});

test('jobs that could not be read are read again', async () => {
  await using cron = await schedulerFixture();
  const scheduler = await cron.start('one', [job]);
  await cron.pass(MINUTE_MS); // the run has a claim, whose renewal fails
  await cron.store.commit({ statements: [insertJob(someJob({ id: 'late' }))] });
  cron.faults.commit = true;
  scheduler.takeIn(['late']);
  await cron.settle();
  assert.equal(scheduler.job('late'), undefined);
  cron.faults.commit = false;
  await cron.pass(2_000);
  assert.equal(scheduler.job('late')?.id, 'late');
});

const toMachine = (machine: string | null) => [
  statementOf(build.updateTable('cron_jobs').set({ machine })),
  statementOf(build.updateTable('cron_occurrences').set({ machine })),
];
