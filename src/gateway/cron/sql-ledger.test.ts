import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import type { Advance } from '../../cron/ledger.ts';
import type { Claim } from '../../cron/occurrence.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { insertJob } from './job-rows.ts';
import { startStatements } from './occurrence-rows.ts';
import { SqlLedger } from './sql-ledger.ts';

const job = someJob();
const claimFirst: Advance = {
  settled: [],
  claim: { scheduledMs: 60_000, leaseMs: 1 },
  job: { ...job, nextMs: 120_000, handledMs: 60_000 },
};

async function ledgers() {
  const store = await tempStore();
  await store.commit({ statements: [insertJob(job)] });
  const create = (owner: string) =>
    new SqlLedger({ store, clock: fakeClock(), owner, tellMain: () => assert.fail('nothing is told') });
  return {
    ...{ one: create('one'), two: create('two') },
    start: (claim: Claim) => store.commit({ statements: startStatements(claim, { owner: 'one', nowMs: 1 }) }),
    nextRuns: async () => {
      const rows = await store.db.selectFrom('cron_occurrences').select(['scheduled_ms', 'next_run_ms']).execute();
      return rows.map(({ scheduled_ms, next_run_ms }) => [scheduled_ms, next_run_ms]);
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test('if two schedulers claim an instant at once, one gets it', async () => {
  await using both = await ledgers();
  const claims = await Promise.all([both.one.advance(job, claimFirst), both.two.advance(job, claimFirst)]);
  assert.deepEqual(
    claims.map((claim) => claim !== undefined),
    [true, false],
  );
  assert.equal((await both.two.job('job_1'))?.nextMs, 120_000);
});

test('a job has at most one open occurrence', async () => {
  await using both = await ledgers();
  await both.one.advance(job, claimFirst);
  assert.equal(await both.two.force(claimFirst.job, { atMs: 70_000, leaseMs: 1 }), undefined);
  assert.equal((await both.two.openOf('job_1'))?.owner, 'one');
});

test('a superseded scheduler can write nothing more', async () => {
  await using both = await ledgers();
  const claim = await both.one.advance(job, claimFirst);
  const open = await both.two.openOf('job_1');
  assert.ok(claim && claim !== 'settled' && open);
  const taken = await both.two.takeOver(open, { leaseMs: 2 });
  assert.equal(taken?.epoch, 2);
  assert.equal(await both.one.takeOver(open, { leaseMs: 2 }), undefined, 'once');
  const end = { status: 'ok', endedMs: 5, before: claimFirst.job, job: claimFirst.job } as const;
  assert.deepEqual(
    [await both.one.renew(claim, { leaseMs: 3, spentMs: 0 }), await both.one.finish(claim, end)],
    [false, false],
  );
  assert.deepEqual([await both.two.finish(taken, end), await both.two.finish(taken, end)], [true, false]);
});

test('a job that was changed meanwhile is not overwritten', async () => {
  await using both = await ledgers();
  const claim = await both.one.advance(job, claimFirst);
  assert.ok(claim && claim !== 'settled');
  const stale = { ...claimFirst.job, revision: 9 };
  assert.equal(await both.one.finish(claim, { status: 'ok', endedMs: 5, before: stale, job: stale }), false);
  assert.equal((await both.one.openOf('job_1'))?.status, 'claimed');
});

test('when the clock is set back, records without a run are removed, records of runs stay', async () => {
  await using both = await ledgers();
  const settled = { fromMs: 30_000, throughMs: 50_000, count: 3, status: 'missed', reason: 'asleep' } as const;
  const claim = await both.one.advance(job, { ...claimFirst, settled: [settled] });
  assert.ok(claim && claim !== 'settled');
  await both.one.finish(claim, { status: 'ok', endedMs: 5, before: claimFirst.job, job: claimFirst.job });
  assert.equal(await both.one.rewind(claimFirst.job, { ...job, nextMs: 20_000, handledMs: 10_000 }), true);
  assert.deepEqual([...(await both.one.recorded('job_1', 0, { butMissed: false }))], [60_000]);
});

test('a record has the next run after its end, also after a pause', async () => {
  await using both = await ledgers();
  const missed = { fromMs: 30_000, throughMs: 30_000, count: 1, status: 'missed', reason: 'asleep' } as const;
  const claim = await both.one.advance(job, { ...claimFirst, settled: [missed] });
  assert.ok(claim && claim !== 'settled');
  const held = { ...claimFirst.job, failures: 3, holdMs: 200_000 };
  await both.one.finish(claim, { status: 'error', endedMs: 5, before: claimFirst.job, job: held });
  assert.deepEqual(await both.nextRuns(), [
    [30_000, 120_000],
    [60_000, 240_000],
  ]);
});

test('a removed job is kept with its open occurrence until that ends', async () => {
  await using both = await ledgers();
  const claim = await both.one.advance(job, claimFirst);
  assert.ok(claim && claim !== 'settled');
  const gone = { job: undefined, settled: [] };
  assert.equal(await both.two.change(job, gone), false, 'it has moved since');
  assert.equal(await both.two.change(claimFirst.job, gone), true);
  const removed = (await both.one.openOf('job_1'))?.removedJob;
  assert.deepEqual([removed?.name, removed?.payload, await both.one.job('job_1')], [job.name, job.payload, undefined]);
});

test('the working time of an attempt is stored with its lease, and restarts with the next attempt', async () => {
  await using both = await ledgers();
  const claim = await both.one.advance(job, claimFirst);
  assert.ok(claim && claim !== 'settled');
  await both.start(claim);
  await both.one.renew(claim, { leaseMs: 3, spentMs: 10_000 });
  const open = (await both.two.openOf('job_1')) ?? assert.fail();
  assert.deepEqual([open.leaseMs, open.spentMs], [3, 10_000]);
  const taken = (await both.two.takeOver({ ...open, spentMs: 15_000 }, { leaseMs: 4 })) ?? assert.fail();
  assert.equal((await both.two.openOf('job_1'))?.spentMs, 15_000);
  const before = { ...claimFirst.job };
  await both.two.postpone({ ...taken, attempts: 0 }, { retryMs: 5, error: 'why', before, job: before });
  const again = await both.two.takeOver({ ...taken, status: 'retrying', spentMs: 0 }, { leaseMs: 6 });
  assert.ok(again);
  await both.start(again);
  assert.equal((await both.two.openOf('job_1'))?.spentMs, 0);
});

test('a scheduler has only the jobs and open occurrences of its machine, also of removed jobs', async () => {
  await using store = await tempStore();
  const ledgerOf = (machine: string | null) =>
    new SqlLedger({
      store: { db: store.db, commit: store.commit, reportDamage: store.reportDamage, machine },
      ...{ clock: fakeClock(), owner: machine ?? 'active', tellMain: () => assert.fail('nothing is told') },
    });
  const far = someJob({ id: 'far' });
  await store.commit({ statements: [insertJob(job), insertJob(far, 'w')] });
  const [active, worker] = [ledgerOf(null), ledgerOf('w')];
  const seen = async (ledger: SqlLedger) => [
    (await ledger.jobs()).map(({ id }) => id),
    [...(await ledger.revisions()).keys()],
    (await ledger.open()).map(({ jobId }) => jobId),
    (await ledger.job('far'))?.id,
    (await ledger.openOf('far'))?.jobId,
  ];
  await active.force(job, { atMs: 5, leaseMs: 1 });
  await worker.advance(far, { ...claimFirst, job: { ...far, nextMs: 120_000, handledMs: 60_000 } });
  assert.deepEqual(await seen(active), [['job_1'], ['job_1'], ['job_1'], undefined, undefined]);
  assert.deepEqual(await seen(worker), [['far'], ['far'], ['far'], 'far', 'far']);
  assert.equal(await worker.change((await worker.job('far')) ?? far, { job: undefined, settled: [] }), true);
  assert.deepEqual(await seen(worker), [[], [], ['far'], undefined, 'far']);
  assert.equal((await worker.openOf('far'))?.removedJob?.id, 'far');
});
