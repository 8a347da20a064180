import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import { insertJob } from './job-rows.ts';
import { createJobsElsewhere } from './jobs-elsewhere.ts';
import { insertClaim } from './occurrence-rows.ts';

const far = (id: string, nextMs = 5_000_000) => someJob({ id, name: id, nextMs });

/** The active daemon's view, or that of a machine, of a store that other machines use, too. */
async function scene() {
  const store = await tempStore();
  const { db, reportDamage } = store;
  return {
    store,
    seenBy: (machine: string | null, alive: string[] = []) =>
      createJobsElsewhere({
        store: { db, machine, reportDamage, noteGrowth: () => true },
        shared: { liveWorkers: async () => new Set(alive) },
        clock: { now: () => 1_000_000 },
      }),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const openAt = (jobId: string, status: 'started' | 'retrying') => [
  insertClaim({ jobId, scheduledMs: 7, trigger: 'schedule', owner: 'o', leaseMs: 1, machine: 'w' }),
  statementOf(
    build.updateTable('cron_occurrences').set({ status, started_ms: 8, retry_ms: 9 }).where('job_id', '=', jobId),
  ),
];

test('the jobs of other machines are read with their progress, and say if their machine has gone', async () => {
  await using world = await scene();
  const { store, seenBy } = world;
  await store.commit({
    statements: [
      insertJob(someJob({ id: 'own' })),
      ...['plain', 'running', 'again'].map((id) => insertJob(far(id), 'w')),
      insertJob(far('lost'), 'gone'),
      insertJob(far('moving'), 'moving gone'),
      ...openAt('running', 'started'),
      ...openAt('again', 'retrying'),
    ],
  });
  const jobs = await seenBy(null, ['w']).read();
  assert.deepEqual(
    jobs.jobs.map(({ id }) => [id, jobs.machineOf(id), jobs.missingOf(id), jobs.nextRunMs(id), jobs.runningSince(id)]),
    [
      ['again', 'w', undefined, 9, undefined],
      ['lost', 'gone', 'gone', 5_000_000, undefined],
      ['moving', 'moving gone', undefined, 5_000_000, undefined],
      ['plain', 'w', undefined, 5_000_000, undefined],
      ['running', 'w', undefined, 5_000_000, 8],
    ],
  );
  const one = await seenBy(null, ['w']).read('plain');
  assert.deepEqual([one.jobs.length, one.has('plain'), one.has('own')], [1, true, false]);
  assert.deepEqual([await seenBy(null).count(), await seenBy('w').count()], [5, 3]);
  await store.commit({
    statements: [statementOf(build.updateTable('cron_jobs').set({ enabled: 0 }).where('job_id', '=', 'plain'))],
  });
  assert.deepEqual([...(await seenBy(null).enabled())].sort(), [
    ['gone', 1],
    ['moving gone', 1],
    ['w', 2],
  ]);
});

test('a call about a job that another machine has is for that machine', async () => {
  await using world = await scene();
  const { store, seenBy } = world;
  await store.commit({ statements: [insertJob(far('far'), 'w'), insertJob(someJob({ id: 'own' }))] });
  await assert.rejects(seenBy(null).requireHere('far'), (error) => error instanceof Elsewhere && error.machine === 'w');
  await assert.rejects(seenBy('w').requireHere('own'), (error) => error instanceof Elsewhere && error.machine === null);
  await seenBy(null).requireHere('nothing');
  // Its row says that it is here, but its scheduler has not read it yet.
  await assert.rejects(seenBy('w').requireHere('far'), { code: 'UNAVAILABLE' });
});

test('lists have the jobs of all machines, and their calls go to their machines', async () => {
  await using gateway = await wholeGateway({ tap: (store) => ({ ...store, noteGrowth: () => true }) });
  const { call, store } = gateway;
  await store.commit({ statements: [insertJob(far('far', gateway.clock.now() + 60_000), 'box')] });
  const { id } = await call('cron.add', {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message: 'look' },
  });
  const { jobs } = await call('cron.list', { extended: true });
  assert.deepEqual(
    jobs.map((job) => [job.id, 'nodeId' in job ? job.nodeId : undefined]),
    [
      ['far', 'box'],
      [id, undefined],
    ],
  );
  const status = await call('cron.status', {});
  assert.deepEqual([status.jobs, status.nextWakeAtMs], [2, gateway.clock.now() + 60_000]);
  const { runs } = await call('cron.calendar', { fromMs: gateway.clock.now(), untilMs: gateway.clock.now() + 100_000 });
  assert.deepEqual([runs[0]?.jobId, runs[0]?.state], ['far', 'planned']);
  assert.equal((await call('cron.explain', { id: 'far' })).atMs, gateway.clock.now() + 60_000);
  const { schedules } = await call('schedule.list', {});
  assert.equal(schedules.length, 2);
  assert.equal((await call('schedule.get', { taskId: 'far' })).taskId, 'far');
  for (const [method, params] of [
    ['cron.run', { id: 'far', mode: 'force' }],
    ['cron.update', { id: 'far', patch: { enabled: false } }],
    ['cron.remove', { id: 'far' }],
    ['schedule.delete', { taskId: 'far' }],
    ['schedule.update', { taskId: 'far', enabled: false }],
    ['sessions.patch', { key: 'cron:far', thinkingLevel: 'low' }],
  ] as const) {
    const { code, message } = await gateway.refusal(method, params);
    assert.deepEqual([method, code, message.startsWith('box, ')], [method, 'UNAVAILABLE', true]);
  }
  assert.equal((await gateway.refusal('cron.run', { id: 'nothing', mode: 'force' })).code, 'NOT_FOUND');
});
