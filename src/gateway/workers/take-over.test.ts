import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../testing/postgres-server.ts';
import { someMachine } from '../../testing/some-machine.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import { type TakeOverDeps, takeOver, watchMachines } from './take-over.ts';

const installed = await needs('postgresql');

const open = (url: string, nodeId: string, isWorker = false) =>
  openPostgresStore({ url, machine: { ...someMachine(nodeId), isWorker }, clock: systemClock, log: recordingLog() });

/** The folders of this machine, by their paths, with their inodes. */
const FOLDERS = new Map([
  ['/here', '7'],
  ['/replaced', '8'],
]);

/** An active daemon with workstreams of the worker `w`. */
async function scene() {
  const url = await (await sharedPostgres()).createDatabase();
  const active = await open(url, 'a');
  const worker = await open(url, 'w', true);
  const add = (
    wsId: string,
    machine: string | null,
    { workdir = '/here', ino = '7' }: { workdir?: string; ino?: string | null } = {},
  ) =>
    queryPostgres(
      url,
      `insert into headgate.workstreams (ws_id, generated_name, workdir, workdir_ino, machine, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
        values ('${wsId}', 'n', '${workdir}', ${ino === null ? 'null' : `'${ino}'`}, ${machine === null ? 'null' : `'${machine}'`}, 1, 0, 0, 0, 1, 1)`,
    );
  const machines = async () => {
    const rows = await queryPostgres(url, 'select ws_id, machine from headgate.workstreams order by ws_id');
    return Object.fromEntries(rows.map(({ ws_id, machine }) => [String(ws_id), machine]));
  };
  const adopted: unknown[] = [];
  const log = recordingLog();
  const { shared } = active;
  assert.ok(shared);
  const deps: TakeOverDeps = {
    store: active,
    shared,
    async identify(path) {
      const ino = FOLDERS.get(path);
      if (ino === undefined) throw new Error('no such folder');
      return { path, ino };
    },
    async adopt({ from, takeRows }) {
      adopted.push([from.machine, await machines()]);
      await takeRows();
    },
    log,
  };
  const dispose = async () => {
    for (const store of [worker, active]) await store.close();
  };
  return { url, active, worker, add, machines, adopted, deps, log, [Symbol.asyncDispose]: dispose };
}

test('nothing is taken from a worker that renews its lease', installed, async () => {
  await using world = await scene();
  await world.add('one', 'w');
  assert.equal(await takeOver('w', world.deps), 0);
  assert.deepEqual([await world.machines(), world.adopted, world.log.lines], [{ one: 'w' }, [], []]);
  await world.worker.commit({ events: { wsId: 'one', events: [{ type: 'info', message: 'alive' }] } });
});

test(
  'workstreams of a worker that has gone are adopted before they become those of the active daemon',
  installed,
  async () => {
    await using world = await scene();
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
  await using world = await scene();
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

test('workstreams whose adoption failed are adopted later', installed, async () => {
  await using world = await scene();
  await world.add('one', 'w');
  await world.worker.close();
  const failing = { ...world.deps, adopt: () => Promise.reject(new Error('the daemon has died')) };
  await assert.rejects(takeOver('w', failing), /has died/);
  assert.deepEqual(await world.machines(), { one: 'moving w' });
  assert.equal(await takeOver('moving w', world.deps), 1);
  assert.deepEqual([world.adopted, await world.machines()], [[['moving w', { one: 'moving w' }]], { one: null }]);
});

test('a worker that comes back does not have the workstreams that are being taken over', installed, async () => {
  await using world = await scene();
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

test(
  'machines that have gone are found each second, those that are alive are left alone, and failures are tried again',
  installed,
  async () => {
    await using world = await scene();
    await world.add('one', 'w');
    await world.worker.close();
    const [clock, over, alive] = [fakeClock(1_000), new AbortController(), new Set(['w'])];
    let fails = true;
    const adopt: TakeOverDeps['adopt'] = async (moved) => {
      if (fails) throw new Error('not now');
      await world.deps.adopt(moved);
    };
    const shared = { ...world.deps.shared, liveWorkers: async () => alive };
    const watched = watchMachines({ takingOver: { ...world.deps, shared, adopt }, clock }, over.signal);
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
