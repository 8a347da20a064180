import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../../clock.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import type { DaemonStore } from '../../daemon-store.ts';
import { openPostgresStore } from '../postgres-store.ts';
import { openCandidate } from './candidate.ts';

const installed = await needs('postgresql');

const newDatabase = async () => (await sharedPostgres()).createDatabase();
const parts = { clock: systemClock, log: recordingLog() };

const open = (url: string, nodeId: string): Promise<DaemonStore> =>
  openPostgresStore({ url, machine: someMachine(nodeId), ...parts });

/** A daemon whose process is paused: its timers do not fire, and its session with the server stays open. */
async function openPaused(url: string, onOver: () => void = () => undefined) {
  const clock = fakeClock(1_000);
  const store = await openPostgresStore({ url, machine: someMachine('a'), clock, log: recordingLog(), onOver });
  while ((await store.shared?.machines())?.length === 0); // the lease has been renewed once
  return { store, goOn: () => clock.advance(10_000) };
}

const wait = (url: string, nodeId: string, handedOver?: number) =>
  openCandidate({ url, machine: someMachine(nodeId), handedOver, ...parts });
/** As if the owner had not renewed its lease for so long. */
const expire = (url: string) =>
  queryPostgres(url, "update headgate.leases set expires_at = clock_timestamp() - interval '1 hour'");
const never = () => new AbortController().signal;

const note = (store: DaemonStore, message: string) =>
  store.commit({ events: { wsId: 'a', events: [{ type: 'info', message }] } });
const countEvents = async (url: string) =>
  Number((await queryPostgres(url, 'select count(*) as n from headgate.events'))[0]?.n);

test('the epoch rises with each owner, and a lease that was released is free at once', installed, async () => {
  const url = await newDatabase();
  const first = await open(url, 'a');
  assert.equal(first.shared?.epoch, 1);
  const candidate = await wait(url, 'b');
  assert.equal(await candidate.isFree(), false);
  assert.equal(candidate.holder()?.nodeId, 'a');
  await first.close();
  await candidate.untilFree(never());
  const second = await open(url, 'b');
  assert.equal(second.shared?.epoch, 2);
  await candidate.close({ isOver: false });
  await second.close();
  const again = await open(url, 'b');
  assert.equal(again.shared?.epoch, 3);
  await again.close();
});

test(
  'a daemon that looks for the active one finds the next one after its connection was lost',
  installed,
  async (t) => {
    const url = await newDatabase();
    const sessions = 'select pid from pg_stat_activity where client_port > 0 and pid <> pg_backend_pid()';
    const first = await open(url, 'a');
    t.after(() => first.close());
    const before = (await queryPostgres(url, sessions)).map(({ pid }) => Number(pid));
    const candidate = await wait(url, 'b');
    t.after(() => candidate.close({ isOver: true }));
    assert.equal(await candidate.isFree(), false);
    await queryPostgres(
      url,
      `select pg_terminate_backend(pid) from (${sessions}) as own where pid not in (${before.join()})`,
    );
    await assert.rejects(candidate.isFree());
    await first.close();
    const next = await open(url, 'c');
    t.after(() => next.close());
    assert.deepEqual([await candidate.isFree(), candidate.holder()?.nodeId], [false, 'c']);
  },
);

test('a daemon whose lease was taken writes nothing, says so, and is told', installed, async () => {
  const url = await newDatabase();
  const replaced = Promise.withResolvers<void>();
  const { store, goOn } = await openPaused(url, replaced.resolve);
  await using former = store;
  await note(former, 'before');
  await expire(url);
  await using next = await open(url, 'b');
  await assert.rejects(note(former, 'late'), { code: 'UNAVAILABLE' });
  await goOn();
  await replaced.promise;
  assert.equal(former.health().status, 'degraded');
  await assert.rejects(note(former, 'later'), { code: 'UNAVAILABLE' });
  assert.equal(await countEvents(url), 1);
  await note(next, 'after');
  assert.equal(await countEvents(url), 2);
});

test(
  'a daemon that was paused does not know whether it was replaced until it has renewed its lease',
  installed,
  async () => {
    const clock = fakeClock(1_000);
    let pausedMs = 0;
    await using store = await openPostgresStore({
      url: await newDatabase(),
      machine: someMachine('a'),
      clock: { ...clock, monotonic: () => clock.monotonic() + pausedMs },
      log: recordingLog(),
    });
    const { shared } = store;
    if (shared === undefined) return assert.fail('the store can be shared');
    while ((await shared.machines()).length === 0); // the lease has been renewed once
    assert.equal(shared.mayBeReplaced(), false);
    pausedMs = 10_000;
    assert.equal(shared.mayBeReplaced(), true);
    await clock.advance(2_000);
    while (shared.mayBeReplaced()) await shared.machines();
  },
);

test(
  'a daemon alone that has lost the database does not know whether another one has come since',
  installed,
  async () => {
    const clock = fakeClock(1_000);
    const log = recordingLog();
    const url = await newDatabase();
    await using store = await openPostgresStore({ url, machine: someMachine('a'), clock, log });
    while ((await store.shared?.machines())?.length === 0); // the lease has been renewed once
    const all = new URL(url);
    const name = all.pathname.slice(1);
    all.pathname = '/postgres';
    await queryPostgres(String(all), `alter database ${name} allow_connections false`);
    await queryPostgres(
      String(all),
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
    );
    const isLate = () => log.lines.some(([, line]) => line === 'the lease of the database could not be renewed');
    while (!isLate()) await clock.advance(500);
    assert.equal(store.shared?.mayBeReplaced(), false);
    await clock.advance(6_000);
    assert.equal(store.shared?.mayBeReplaced(), true);
  },
);

test(
  'the statements of a daemon with an old epoch are refused even on a connection that is still open',
  installed,
  async () => {
    const url = await newDatabase();
    const paused = await openPaused(url);
    await using store = paused.store;
    await note(store, 'before');
    // Nobody has ended the connection.
    await queryPostgres(url, "update headgate.leases set owner = 'another', epoch = epoch + 1");
    const { code, cause } = await note(store, 'late').then(
      () => assert.fail('it was written'),
      (error: unknown) => error as { code: string; cause: unknown },
    );
    assert.deepEqual([code, String(cause)], ['UNAVAILABLE', 'LeaseLost: another daemon has taken over']);
    assert.equal(await countEvents(url), 1);
  },
);

test('a lease is taken only when the transactions of its owner have ended', installed, async () => {
  const url = await newDatabase();
  const { store: former } = await openPaused(url);
  await note(former, 'before');
  // A transaction that was fenced, and whose process is paused before its commit.
  const paused = queryPostgres(
    url,
    `begin; set local search_path = headgate;
      select 1 from leases where owner = (select owner from leases) for key share;
      select pg_sleep(0.5); insert into meta values ('in_flight', 'x'); commit`,
  );
  const lock = `select count(*) as n from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'`;
  while (Number((await queryPostgres(url, lock))[0]?.n) === 0);
  await expire(url);
  await using next = await open(url, 'b');
  const [row] = await queryPostgres(url, "select 1 as there from headgate.meta where key = 'in_flight'");
  assert.ok(row, 'what was in flight is there before the new owner reads');
  await paused;
  assert.equal(next.shared?.epoch, 2);
  await former.close();
});

test('the clocks of the machines do not matter: only the database knows when a lease ends', installed, async () => {
  const url = await newDatabase();
  const shifted = (years: number): Clock => ({
    ...systemClock,
    now: () => systemClock.now() + years * 365 * 24 * 3_600_000,
  });
  await using behind = await openPostgresStore({
    ...{ url, machine: someMachine('a'), clock: shifted(-3), log: recordingLog() },
  });
  const ahead = await openCandidate({
    ...{ url, machine: someMachine('b'), handedOver: undefined, clock: shifted(3), log: recordingLog() },
  });
  assert.equal(await ahead.isFree(), false);
  await note(behind, 'the lease is held');
  await ahead.close({ isOver: true });
});

test('an expired lease is renewed by its owner as long as nobody has taken it', installed, async () => {
  const url = await newDatabase();
  await using store = await open(url, 'a');
  await expire(url);
  await note(store, 'nobody else has written');
  const isRenewed = async () =>
    (await queryPostgres(url, 'select expires_at > clock_timestamp() as renewed from headgate.leases'))[0]?.renewed;
  while (!(await isRenewed()));
  await note(store, 'and again');
  assert.equal(await countEvents(url), 2);
});

test('a daemon that handed over lets another one take the lease first', installed, async () => {
  const url = await newDatabase();
  const former = await open(url, 'a');
  const other = await wait(url, 'b');
  await other.isFree();
  await former.close();
  const again = await wait(url, 'a', former.shared?.epoch);
  assert.deepEqual([await again.isFree(), await other.isFree()], [false, true]);
  const next = await open(url, 'b');
  assert.equal(await again.isFree(), false);
  await next.close();
  await again.untilFree(never());
  for (const each of [other, again]) await each.close({ isOver: true });
});

test('of several that wait, one takes the lease, and the others are told who', installed, async () => {
  const url = await newDatabase();
  const names = ['b', 'c', 'd'];
  const opened = await Promise.allSettled(names.map((name) => open(url, name)));
  const stores = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const errors = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.equal(stores.length, 1);
  for (const error of errors) {
    assert.equal(error.name, 'LeaseHeld');
    assert.match(error.message, /--standby/);
  }
  const machines = await stores[0]?.shared?.machines();
  assert.deepEqual(
    machines?.map(({ state, isHere }) => [state, isHere]),
    [['active', true]],
  );
  for (const store of stores) await store.close();
});

test('machines are known by what they do, and by the clock of the database', installed, async () => {
  const url = await newDatabase();
  await using store = await open(url, 'a');
  const standby = await wait(url, 'b');
  await standby.isFree();
  await queryPostgres(
    url,
    `insert into headgate.machines values ('x', 'c', 'http://c', '0.9', clock_timestamp(), clock_timestamp() - interval '7 s')`,
  );
  const states = async () =>
    (await store.shared?.machines())?.map(({ nodeId, state, serverUrl }) => [nodeId, state, serverUrl]);
  while ((await states())?.length !== 3);
  assert.deepEqual(await states(), [
    ['a', 'active', 'http://a'],
    ['b', 'standby', 'http://b'],
    ['c', 'lost', 'http://c'],
  ]);
  await standby.close({ isOver: true });
  assert.equal((await states())?.length, 2, 'a machine that stops in order is forgotten');
});

test('a standby refuses the database of a newer Headgate, and changes nothing in an older one', installed, async () => {
  const url = await newDatabase();
  const active = await open(url, 'a');
  await queryPostgres(url, 'update headgate.schema_migrations set version = 999, usable_from = 999');
  await assert.rejects(wait(url, 'b'), /has schema version 999, but this Headgate knows versions up to/);
  await queryPostgres(url, 'update headgate.schema_migrations set version = 1, usable_from = 1');
  const candidate = await wait(url, 'b');
  assert.equal(await candidate.isFree(), false);
  assert.deepEqual(await queryPostgres(url, 'select version::text from headgate.schema_migrations'), [
    { version: '1' },
  ]);
  await candidate.close({ isOver: true });
  await active.close();
});
