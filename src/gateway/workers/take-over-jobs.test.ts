import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { queryPostgres } from '../../testing/postgres-server.ts';
import { insertClaim } from '../cron/occurrence-rows.ts';
import { type TakeOverDeps, takeOver, watchMachines } from './take-over.ts';
import { takeOverScene } from './take-over-fixture.ts';

const installed = await needs('postgresql');

test('a job moves with the workstream of its runs, and after it', installed, async () => {
  await using world = await takeOverScene();
  await world.add('here', 'w');
  await world.add('there', 'w', { workdir: '/elsewhere' });
  await world.addJob('goes', 'w', 'here');
  await world.addJob('new', 'w');
  await world.addJob('stays', 'w', 'there');
  await world.addJob('own', null);
  await world.worker.close();
  const during: unknown[] = [];
  const adopt: TakeOverDeps['adopt'] = async ({ takeRows }) => {
    during.push(await world.jobs(), [...world.taken]);
    await takeRows();
  };
  assert.equal(await takeOver('w', { ...world.deps, adopt }), 3);
  assert.deepEqual(during, [{ goes: 'moving w', new: 'moving w', own: null, stays: 'w' }, []]);
  assert.deepEqual(await world.jobs(), { goes: null, new: null, own: null, stays: 'w' });
  assert.deepEqual(new Set(world.taken), new Set(['goes', 'new']));
});

test(
  'jobs without workstreams move, and open occurrences of removed jobs; ended ones stay as they are',
  installed,
  async () => {
    await using world = await takeOverScene();
    await world.addJob('only', 'w');
    const claim = { trigger: 'schedule', owner: 'o', leaseMs: 1, machine: 'w' } as const;
    await world.active.commit({
      statements: [
        insertClaim({ ...claim, jobId: 'removed', scheduledMs: 1 }),
        insertClaim({ ...claim, jobId: 'only', scheduledMs: 1 }),
        { sql: "update cron_occurrences set ended_ms = 5, status = 'ok' where job_id = 'only'", parameters: [] },
      ],
    });
    await world.worker.close();
    assert.equal(await takeOver('w', world.deps), 2);
    assert.deepEqual([world.adopted, new Set(world.taken)], [[], new Set(['only', 'removed'])]);
    const rows = await queryPostgres(
      world.url,
      'select job_id, machine from headgate.cron_occurrences order by job_id',
    );
    assert.deepEqual(
      rows.map(({ job_id, machine }) => [job_id, machine]),
      [
        ['only', 'w'],
        ['removed', null],
      ],
    );
    assert.equal(await takeOver('w', world.deps), 0);
  },
);

test('a take-over that was interrupted after the workstreams goes on with the jobs', installed, async () => {
  await using world = await takeOverScene();
  await world.add('one', 'w');
  await world.addJob('job', 'w', 'one');
  await world.worker.close();
  const adopt: TakeOverDeps['adopt'] = async ({ takeRows }) => {
    await takeRows();
    throw new Error('the daemon has died');
  };
  await assert.rejects(takeOver('w', { ...world.deps, adopt }), /has died/);
  assert.deepEqual([await world.machines(), await world.jobs()], [{ one: null }, { job: 'moving w' }]);
  const [clock, over] = [fakeClock(1_000), new AbortController()];
  const watched = watchMachines({ takingOver: world.deps, clock, lookMs: () => 1_000 }, over.signal);
  while (world.taken.length === 0) await clock.advance(1_000);
  over.abort();
  await watched;
  assert.deepEqual([await world.jobs(), world.taken], [{ job: null }, ['job']]);
});
