import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../../clock.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import type { DaemonStore } from '../../daemon-store.ts';
import { UnitRefused } from '../../store.ts';
import { openPostgresStore } from '../postgres-store.ts';
import { lockOf } from './database-lock.ts';

const installed = await needs('postgresql');

const newDatabase = async () => (await sharedPostgres()).createDatabase();

interface Opening {
  isWorker?: boolean;
  clock?: Clock;
  onOver?: (why: string) => void;
}

const open = (url: string, nodeId: string, { isWorker = false, clock = systemClock, onOver }: Opening = {}) =>
  openPostgresStore({
    url,
    machine: { ...someMachine(nodeId), isWorker },
    clock,
    log: recordingLog(),
    ...(onOver && { onOver }),
  });
const openWorker = (url: string, nodeId: string, opening: Opening = {}) =>
  open(url, nodeId, { ...opening, isWorker: true });

/** A worker whose process is paused: its timers do not fire, and its session with the server stays open. */
async function openPaused(url: string, nodeId: string) {
  const over = Promise.withResolvers<string>();
  const clock = fakeClock(1_000);
  const store = await openWorker(url, nodeId, { clock, onOver: over.resolve });
  const isKnown = async () => (await store.shared?.machines())?.some((machine) => machine.nodeId === nodeId);
  while (!(await isKnown())); // the lease has been renewed once
  return { store, over: over.promise, goOn: () => clock.advance(10_000) };
}

const note = (store: DaemonStore, wsId: string, message = 'x') =>
  store.commit({ events: { wsId, events: [{ type: 'info', message }] } });
const endWorker = (active: DaemonStore, nodeId: string) => {
  const statements = active.shared?.endWorker(nodeId);
  assert.ok(statements);
  return active.commit({ statements });
};
const leaseOf = async (url: string, name: string) => {
  const [row] = await queryPostgres(
    url,
    `select owner, epoch, expires_at = '-infinity' as released from headgate.leases where name = '${name}'`,
  );
  return row && { owner: row.owner, epoch: Number(row.epoch), released: row.released };
};
const expire = (url: string, name: string) =>
  queryPostgres(
    url,
    `update headgate.leases set expires_at = clock_timestamp() - interval '1 hour' where name = '${name}'`,
  );

test('each worker has a lock of its own, which is that of no active daemon', () => {
  const names = ['a', 'b', 'daemon', ''];
  const locks = names.map((nodeId) => lockOf({ nodeId, isWorker: true }));
  const all = [lockOf({ nodeId: 'a' }), ...locks];
  assert.equal(new Set(all.map(({ lock }) => lock)).size, 5);
  assert.equal(new Set(all.map(({ name }) => name)).size, 5);
  assert.ok(all.every(({ lock }) => Number.isSafeInteger(lock) && lock > 0));
  assert.deepEqual(lockOf({ nodeId: 'a' }), lockOf({ nodeId: 'b' }), 'there is one active daemon');
});

test('the active daemon and two workers write at the same time, each under its own lease', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  await using first = await openWorker(url, 'w1');
  await using second = await openWorker(url, 'w2');
  assert.deepEqual([active.machine, first.machine, second.machine], [null, 'w1', 'w2']);
  assert.equal(new Set([active.epoch, first.epoch, second.epoch]).size, 1, 'their logs have the same identity');
  const stores = [active, first, second];
  for (let round = 1; round <= 20; round += 1) {
    const offsets = await Promise.all(stores.map((store, index) => note(store, `ws${index}`)));
    assert.deepEqual(offsets, [round, round, round]);
  }
  const marks = await queryPostgres(url, `select key from headgate.meta where key like 'last_group%' order by key`);
  assert.deepEqual(
    marks.map(({ key }) => key),
    ['last_group', 'last_group worker w1', 'last_group worker w2'],
  );
  assert.deepEqual(
    (await active.shared?.machines())?.map(({ nodeId, state }) => [nodeId, state]),
    [
      ['a', 'active'],
      ['w1', 'worker'],
      ['w2', 'worker'],
    ],
  );
});

test('all of them go on after the server has ended their connections', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  await using first = await openWorker(url, 'w1');
  await using second = await openWorker(url, 'w2');
  const stores = [active, first, second];
  for (const [index, store] of stores.entries()) await note(store, `ws${index}`);
  await queryPostgres(
    url,
    'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  const untilWritten = async (store: DaemonStore, wsId: string): Promise<number> => {
    for (;;) {
      const offset = await note(store, wsId).catch(() => undefined);
      if (offset !== undefined) return offset;
      await new Promise(setImmediate);
    }
  };
  const offsets = await Promise.all(stores.map((store, index) => untilWritten(store, `ws${index}`)));
  assert.deepEqual(offsets, [2, 2, 2]);
});

test('a worker goes on while the active daemon is replaced', installed, async () => {
  const url = await newDatabase();
  const former = await open(url, 'a');
  await using worker = await openWorker(url, 'w');
  await former.close();
  await note(worker, 'ws');
  await using next = await open(url, 'b');
  assert.equal(next.shared?.epoch, 2);
  assert.equal(await note(worker, 'ws'), 2);
});

test('the lease of a worker cannot be ended while the worker renews it', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  await using worker = await openWorker(url, 'w');
  await note(worker, 'ws');
  const before = await leaseOf(url, 'worker w');
  await assert.rejects(endWorker(active, 'w'), UnitRefused);
  assert.deepEqual(await leaseOf(url, 'worker w'), before);
  assert.equal(await note(worker, 'ws'), 2, 'its connection was not ended');
});

test(
  'the lease of a worker that has stopped is ended, and a worker that starts again has another one',
  installed,
  async () => {
    const url = await newDatabase();
    await using active = await open(url, 'a');
    const worker = await openWorker(url, 'w');
    await worker.close();
    await endWorker(active, 'w');
    assert.deepEqual(await leaseOf(url, 'worker w'), { owner: '', epoch: 2, released: true });
    await using again = await openWorker(url, 'w');
    assert.equal(again.shared?.epoch, 3);
    assert.equal(await note(again, 'ws'), 1);
    await assert.rejects(endWorker(active, 'w'), UnitRefused);
  },
);

test(
  'a worker that was paused writes nothing after its lease was ended, and is told that it was replaced',
  installed,
  async () => {
    const url = await newDatabase();
    await using active = await open(url, 'a');
    const { store: worker, over, goOn } = await openPaused(url, 'w');
    await note(worker, 'ws');
    await expire(url, 'worker w');
    await endWorker(active, 'w');
    await assert.rejects(note(worker, 'ws', 'late'), { code: 'UNAVAILABLE' });
    await goOn();
    assert.equal(await over, 'replaced');
    await assert.rejects(note(worker, 'ws', 'later'), { code: 'UNAVAILABLE' });
    assert.equal(worker.health().status, 'degraded');
    await active.openLogs(['ws']);
    assert.equal(active.bounds('ws').last, 1);
    await worker.close();
  },
);

test('the end of a lease waits for the transaction in which its worker is', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  const { store: worker } = await openPaused(url, 'w');
  const paused = queryPostgres(
    url,
    `begin; set local search_path = headgate; select 1 from leases where name = 'worker w' for key share;
      select pg_sleep(0.5); insert into meta values ('in_flight', 'x'); commit`,
  );
  const sleeping = `select count(*) as n from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'`;
  while (Number((await queryPostgres(url, sleeping))[0]?.n) === 0);
  await expire(url, 'worker w');
  await endWorker(active, 'w');
  const [row] = await queryPostgres(url, "select 1 as there from headgate.meta where key = 'in_flight'");
  assert.ok(row, 'what was in flight is there before others read');
  await paused;
  await worker.close();
});

test('the lease of a worker that the database has never seen can be ended', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  await endWorker(active, 'from another database'); // its leases are not copied, but its workstreams are
  await using worker = await openWorker(url, 'from another database');
  assert.equal(await note(worker, 'ws'), 1);
});

test('the same home cannot be used by two workers at once', installed, async () => {
  const url = await newDatabase();
  await using active = await open(url, 'a');
  await using worker = await openWorker(url, 'w');
  const clock = fakeClock(1_000);
  let refused: unknown;
  openWorker(url, 'w', { clock }).catch((error: unknown) => {
    refused = error;
  });
  while (refused === undefined) await clock.advance(1_000);
  assert.equal(refused instanceof Error && refused.name, 'LeaseHeld');
  assert.deepEqual([await note(worker, 'ws'), await note(active, 'other')], [1, 1]);
});

test('when a worker was alive is known to that worker alone', installed, async () => {
  const url = await newDatabase();
  const [active, worker] = [await open(url, 'a'), await openWorker(url, 'w').catch(() => undefined)];
  assert.ok(worker);
  await worker.markAlive(7_000);
  await active.markAlive(5_000);
  for (const store of [active, worker]) await store.close();
  await using again = await open(url, 'a');
  await using sameWorker = await openWorker(url, 'w');
  await using otherWorker = await openWorker(url, 'v');
  assert.deepEqual([again.lastAliveMs, sameWorker.lastAliveMs, otherWorker.lastAliveMs], [5_000, 7_000, undefined]);
});

test(
  'a worker refuses a database without tables, or with those of another version, and changes nothing',
  installed,
  async () => {
    const url = await newDatabase();
    const older = /has the tables of an older Headgate. Start the active daemon in this version first/;
    await assert.rejects(openWorker(url, 'w'), older);
    const tables = await queryPostgres(url, `select tablename from pg_tables where schemaname = 'headgate' order by 1`);
    assert.deepEqual(
      tables.map(({ tablename }) => tablename),
      ['leases', 'machines'],
    );
    await (await open(url, 'a')).close();
    await queryPostgres(url, 'update headgate.schema_migrations set version = 1, usable_from = 1');
    await assert.rejects(openWorker(url, 'w'), older);
    await queryPostgres(url, 'update headgate.schema_migrations set version = 999, usable_from = 999');
    await assert.rejects(openWorker(url, 'w'), /has schema version 999, but this Headgate knows versions up to/);
    assert.equal((await leaseOf(url, 'worker w'))?.released, true, 'it holds no lease');
  },
);
