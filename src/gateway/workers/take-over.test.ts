import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { queryPostgres } from '../../testing/postgres-server.ts';
import { DAEMON } from '../sharing/perception.ts';
import { Elsewhere } from './elsewhere.ts';
import { createHurry, type TakeOverDeps, takeOver, watchMachines } from './take-over.ts';
import { open, takeOverScene } from './take-over-fixture.ts';

const installed = await needs('postgresql');

test('nothing is taken from a worker that renews its lease', installed, async () => {
  await using world = await takeOverScene();
  await world.add('one', 'w');
  assert.equal(await takeOver('w', world.deps), 0);
  assert.deepEqual([await world.machines(), world.adopted, world.log.lines], [{ one: 'w' }, [], []]);
  await world.worker.commit({ events: { wsId: 'one', events: [{ type: 'info', message: 'alive' }] } });
});

test(
  'workstreams of a worker that has gone are adopted before they become those of the active daemon',
  installed,
  async () => {
    await using world = await takeOverScene();
    for (const [wsId, machine] of [
      ['one', 'w'],
      ['two', 'w'],
      ['own', null],
      ['other', 'v'],
    ] as const)
      await world.add(wsId, machine);
    await world.worker.close();
    assert.equal(await takeOver('w', world.deps), 2);
    assert.deepEqual(world.adopted, [['moving w', { one: 'moving w', two: 'moving w', own: null, other: 'v' }]]);
    assert.deepEqual(await world.machines(), { one: null, two: null, own: null, other: 'v' });
    assert.equal(await takeOver('w', world.deps), 0);
  },
);

test('a workstream waits for its machine if its folder is not here, or is another one', installed, async () => {
  await using world = await takeOverScene();
  await world.add('a', 'w');
  await world.add('b', 'w', { workdir: '/elsewhere' });
  await world.add('c', 'w', { workdir: '/replaced', ino: '7' });
  await world.add('d', 'w', { workdir: '/replaced', ino: null });
  await world.worker.close();
  assert.equal(await takeOver('w', world.deps), 2);
  assert.deepEqual(await world.machines(), { a: null, b: 'w', c: 'w', d: null });
  await using again = await open(world.url, 'w', true);
  assert.equal(again.machine, 'w');
  await again.commit({ events: { wsId: 'b', events: [{ type: 'info', message: 'here again' }] } });
});

test(
  'a workstream waits for its machine if this one lacks its labels, and the reason is known',
  installed,
  async () => {
    await using world = await takeOverScene();
    await world.add('a', 'w', { labels: 'eu' });
    await world.add('b', 'w', { labels: 'eu,gpu' });
    await world.add('c', 'w', { workdir: '/elsewhere' });
    await world.worker.close();
    assert.equal(await takeOver('w', world.deps), 1);
    assert.equal(await takeOver('w', world.deps), 0, 'those that wait stay');
    assert.deepEqual(await world.machines(), { a: null, b: 'w', c: 'w' });
    const labels = {
      reason: 'labels',
      nodeId: 'w',
      missingLabels: ['gpu'],
      message: 'This workstream waits for w, because a does not have the label "gpu".',
    };
    const folder = {
      reason: 'folder',
      nodeId: 'w',
      message: 'This workstream waits for w, because a does not have the same folder /elsewhere (path and inode).',
    };
    const waits = await world.waiting.list(DAEMON);
    assert.deepEqual(
      waits.map(({ row, waiting }) => [row.ws_id, waiting]),
      [
        ['b', labels],
        ['c', folder],
      ],
    );
    const refusal = world.waiting.refusal(new Elsewhere('w', 'b'));
    assert.deepEqual(
      [refusal.code, refusal.message, refusal.details, refusal.retryAfterMs],
      ['UNAVAILABLE', labels.message, { waiting: labels }, 5_000],
    );
    assert.match(world.waiting.refusal(new Elsewhere('w', 'a')).message, /cannot be reached now/);
    world.waiting.keepOnly([]);
    assert.deepEqual(await world.waiting.list(DAEMON), []);
  },
);

test('what waits is listed for those who perceive it', installed, async () => {
  await using world = await takeOverScene();
  await world.add('a', 'w', { labels: 'gpu' });
  await queryPostgres(world.url, "update headgate.workstreams set owner_id = 'ann', visibility = 'private'");
  await world.worker.close();
  await takeOver('w', world.deps);
  const seen = async (userId: string) =>
    (await world.waiting.list({ userId, permissions: new Set<Permission>(['read']) })).map(({ row }) => row.ws_id);
  assert.deepEqual([await seen('ann'), await seen('bob')], [['a'], []]);
});

test(
  'many workstreams that wait keep none from being taken over, and all are known in the end',
  installed,
  async () => {
    await using world = await takeOverScene();
    await queryPostgres(
      world.url,
      `insert into headgate.workstreams (ws_id, generated_name, workdir, machine, machine_labels, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
      select lpad(n::text, 6, '0'), 'n', '/here', 'w', case when n = 1500 then 'eu' else 'gpu' end, 1, 0, 0, 1, n, 1 from generate_series(1, 1700) n`,
    );
    await world.worker.close();
    assert.equal(await takeOver('w', world.deps), 1);
    assert.equal((await world.machines())['001500'], null);
    assert.equal(await takeOver('w', world.deps), 0);
    assert.equal((await world.waiting.list(DAEMON)).length, 1_699);
  },
);

test('what a daemon that died began to take over, and this one cannot have, is given back', installed, async () => {
  await using world = await takeOverScene();
  await world.add('one', 'moving w', { labels: 'gpu' });
  assert.equal(await takeOver('moving w', world.deps), 0);
  assert.deepEqual(
    await world.machines(),
    { one: 'moving w' },
    'not to a worker that is alive: it reads its rows once',
  );
  const [told] = await world.waiting.list(DAEMON);
  assert.equal(told?.waiting.nodeId, 'w');
  await world.worker.close();
  assert.equal(await takeOver('moving w', world.deps), 0);
  assert.deepEqual(await world.machines(), { one: 'w' });
});

test('workstreams whose adoption failed are adopted later', installed, async () => {
  await using world = await takeOverScene();
  await world.add('one', 'w');
  await world.worker.close();
  const failing = { ...world.deps, adopt: () => Promise.reject(new Error('the daemon has died')) };
  await assert.rejects(takeOver('w', failing), /has died/);
  assert.deepEqual(await world.machines(), { one: 'moving w' });
  assert.equal(await takeOver('moving w', world.deps), 1);
  assert.deepEqual([world.adopted, await world.machines()], [[['moving w', { one: 'moving w' }]], { one: null }]);
});

test('a worker that comes back does not have the workstreams that are being taken over', installed, async () => {
  await using world = await takeOverScene();
  await world.add('one', 'w');
  await world.worker.close();
  let back: { machine: string | null; count: number } | undefined;
  const adopt: TakeOverDeps['adopt'] = async ({ takeRows }) => {
    await using again = await open(world.url, 'w', true);
    const own = await again.db.selectFrom('workstreams').select('ws_id').where('machine', '=', 'w').execute();
    back = { machine: again.machine, count: own.length };
    await takeRows();
  };
  await takeOver('w', { ...world.deps, adopt });
  assert.deepEqual([back, await world.machines()], [{ machine: 'w', count: 0 }, { one: null }]);
});

test('machines that are about to stop are looked for more often, for a while', async () => {
  const clock = fakeClock(1_000);
  const hurry = createHurry(clock);
  const before = hurry.lookMs();
  hurry.begin();
  const soon = hurry.lookMs();
  await clock.advance(20_000);
  assert.deepEqual([before, soon, hurry.lookMs()], [1_000, 50, 1_000]);
});

test(
  'machines that have gone are found each second, those that are alive are left alone, and failures are tried again',
  installed,
  async () => {
    await using world = await takeOverScene();
    await world.add('one', 'w');
    await world.worker.close();
    const [clock, over, alive] = [fakeClock(1_000), new AbortController(), new Set(['w'])];
    let fails = true;
    const adopt: TakeOverDeps['adopt'] = async (moved) => {
      if (fails) throw new Error('not now');
      await world.deps.adopt(moved);
    };
    const shared = { ...world.deps.shared, liveWorkers: async () => alive };
    const watched = watchMachines(
      { takingOver: { ...world.deps, shared, adopt }, clock, lookMs: () => 1_000 },
      over.signal,
    );
    const until = async (is: () => boolean | Promise<boolean>) => {
      while (!(await is())) await clock.advance(1_000);
    };
    await clock.advance(5_000);
    assert.deepEqual(await world.machines(), { one: 'w' });
    alive.clear();
    await until(() => world.log.lines.length > 0);
    assert.match(String(world.log.lines[0]), /could not be taken over; trying again/);
    fails = false;
    await until(async () => (await world.machines()).one === null);
    over.abort();
    await watched;
  },
);
