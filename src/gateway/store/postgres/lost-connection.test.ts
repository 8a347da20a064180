import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { type Clock, systemClock } from '../../../clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { needs } from '../../../testing/needs.ts';
import { type PostgresServer, queryPostgres, sharedPostgres, startPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { once } from '../../../timing/once.ts';
import type { DaemonStore } from '../daemon-store.ts';
import { openPostgresStore } from './postgres-store.ts';

const installed = await needs('postgresql');

const info = (message: string): StreamEvent => ({ type: 'info', message });
const append = (store: DaemonStore, wsId: string, ...texts: string[]): Promise<number> =>
  store.commit({ events: { wsId, events: texts.map(info) } });
const setMeta = (key: string, value: string) => ({
  sql: 'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  parameters: [key, value],
});
const textsOf = async (store: DaemonStore, wsId: string): Promise<string[]> =>
  (await store.readEvents(wsId, 0, 100)).map(({ json, isDamaged }) =>
    isDamaged ? 'damaged' : JSON.parse(json).message,
  );

/** A server that is killed. */
const mortal = once(startPostgres);
after(async () => {
  if (!installed.skip) await (await mortal()).close();
});

async function openMortal(): Promise<{ server: PostgresServer; url: string; store: DaemonStore }> {
  const server = await mortal();
  const url = await server.createDatabase();
  return {
    server,
    url,
    store: await openPostgresStore({ url, machine: someMachine(), clock: systemClock, log: recordingLog() }),
  };
}

async function untilHealth(store: DaemonStore, status: 'ok' | 'degraded'): Promise<void> {
  while (store.health().status !== status) await new Promise(setImmediate);
}

test(
  'a killed server: commits are refused, and once it runs again each group was written completely or not at all',
  installed,
  async () => {
    const { server, store } = await openMortal();
    const outcomes = new Map<string, 'done' | 'UNAVAILABLE'>();
    let isOver = false;
    const write = async () => {
      for (let n = 0; !isOver; n += 1) {
        const text = String(n);
        const unit = { statements: [setMeta(`k${n}`, text)], events: { wsId: 'a', events: [info(text)] } };
        outcomes.set(
          text,
          await store.commit(unit).then(
            () => 'done' as const,
            ({ code }) => code,
          ),
        );
      }
    };
    const writing = write();
    for (let kills = 0; kills < 3; kills += 1) {
      const before = outcomes.size;
      while (outcomes.size < before + 20) await new Promise(setImmediate);
      await server.kill();
      await untilHealth(store, 'degraded');
      await assert.rejects(append(store, 'b', 'never'), { code: 'UNAVAILABLE' });
      await server.start();
      await untilHealth(store, 'ok');
    }
    isOver = true;
    await writing;
    const done = [...outcomes].flatMap(([text, outcome]) => (outcome === 'done' ? [text] : []));
    const rows = await store.db.selectFrom('meta').select('value').where('key', 'like', 'k%').execute();
    assert.deepEqual(new Set(rows.map(({ value }) => value)), new Set(done), 'what was answered is what is stored');
    const offsets: number[] = [];
    for (
      let page = await store.readEvents('a', 0, 1_000);
      page.length > 0;
      page = await store.readEvents('a', offsets.length, 1_000)
    )
      offsets.push(...page.map(({ offset }) => offset));
    assert.deepEqual([offsets.length, offsets.at(-1), store.bounds('a').last], [done.length, done.length, done.length]);
    await store.openLogs(['b']);
    assert.deepEqual(store.bounds('b'), { first: 1, last: 0 });
    await store.close();
  },
);

test(
  'what is asked while the server restarts waits, and is done in order; it does not wait for ever',
  installed,
  async () => {
    const server = await mortal();
    await using store = await openPostgresStore({
      ...{ url: await server.createDatabase(), machine: someMachine(), log: recordingLog(), clock: systemClock },
      retryForMs: 300_000,
    });
    await append(store, 'a', '1');
    await server.kill();
    await untilHealth(store, 'degraded');
    const writing = Promise.all([append(store, 'a', '2'), append(store, 'a', '3', '4'), append(store, 'b', 'x')]);
    const reading = textsOf(store, 'a');
    await server.start();
    assert.deepEqual(await writing, [2, 4, 1]);
    assert.ok(['1', '1,2,3,4'].includes(String(await reading)), 'as before or after the group');
    assert.deepEqual([await textsOf(store, 'a'), store.health().status], [['1', '2', '3', '4'], 'ok']);

    const clock = fakeClock(1_000);
    await using impatient = await openPostgresStore({
      ...{ url: await server.createDatabase(), machine: someMachine(), log: recordingLog(), clock },
      retryForMs: 5_000,
    });
    await append(impatient, 'a', '1');
    await server.kill();
    await untilHealth(impatient, 'degraded');
    const given = [append(impatient, 'a', '2'), textsOf(impatient, 'a')].map((one) => assert.rejects(one, UNAVAILABLE));
    for (let seconds = 0; seconds < 7; seconds += 1) await clock.advance(1_000);
    await Promise.all(given);
    for (const asked of [() => append(impatient, 'a', '3'), () => textsOf(impatient, 'a')])
      await assert.rejects(asked(), UNAVAILABLE, 'at once, because the time of this outage is over');
    await server.start();
  },
);

test(
  'what is written while the connection comes back is written once, also beside units that are refused',
  installed,
  async () => {
    const url = await (await sharedPostgres()).createDatabase();
    await using store = await openPostgresStore({
      ...{ url, machine: someMachine(), log: recordingLog(), clock: systemClock },
      retryForMs: 300_000,
    });
    await store.commit({ statements: [setMeta('count', '0')] });
    const more = `update meta set value = (value::integer + 1)::text where key = 'count'`;
    const nothing = { sql: `update meta set value = '' where key = 'missing'`, parameters: [], expect: 1 };
    let done = 0;
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const [before] = await queryPostgres(url, 'select pid, pg_terminate_backend(pid::integer) from headgate.leases');
      await untilHealth(store, 'degraded');
      // Nothing waits, and the new connection is about to be used.
      while ((await queryPostgres(url, 'select pid from headgate.leases'))[0]?.pid === before?.pid);
      for (const upTo = done + 3; done < upTo; ) {
        const refused = assert.rejects(store.commit({ statements: [nothing] }), { name: 'UnitRefused' });
        await Promise.all([store.commit({ statements: [{ sql: more, parameters: [], expect: 1 }] }), refused]);
        done += 1;
      }
      const [row] = await store.db.selectFrom('meta').select('value').where('key', '=', 'count').execute();
      assert.equal(Number(row?.value), done);
      await untilHealth(store, 'ok');
    }
  },
);

const UNAVAILABLE = { code: 'UNAVAILABLE' };

test('a daemon that stops no longer waits for a lost connection', installed, async () => {
  const server = await mortal();
  await using store = await openPostgresStore({
    ...{ url: await server.createDatabase(), machine: someMachine(), log: recordingLog(), clock: systemClock },
    retryForMs: 300_000,
  });
  await server.kill();
  await untilHealth(store, 'degraded');
  const asked = [append(store, 'a', '1'), textsOf(store, 'a')].map((one) => assert.rejects(one, UNAVAILABLE));
  store.shared?.stopWaiting();
  await Promise.all(asked);
  await server.start();
});

test('a daemon that lost its connection does not write once another one has used the database', installed, async () => {
  const { server, url, store } = await openMortal();
  await server.kill();
  await untilHealth(store, 'degraded');
  await server.start();
  await queryPostgres(url, `update headgate.leases set owner = 'another', epoch = epoch + 1`);
  while (!/another daemon has taken over/.test(store.health().reason ?? '')) await new Promise(setImmediate);
  await assert.rejects(append(store, 'a', 'never'), { code: 'UNAVAILABLE' });
  await store.close();
});

test(
  'a database that lacks what it had confirmed is not written: a replica without it took over',
  installed,
  async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const log = recordingLog();
    const ends: string[] = [];
    const onOver = (why: string) => void ends.push(why);
    const open = (clock: Clock) => openPostgresStore({ url, machine: someMachine(), clock, log, onOver });
    const clock = fakeClock(1_000);
    const store = await open(clock);
    await append(store, 'a', '1');
    const older = await queryPostgres(url, `select value from headgate.meta where key = 'last_group'`);
    await append(store, 'a', '2');
    await queryPostgres(url, 'delete from headgate.events where "offset" > 1');
    await queryPostgres(url, `update headgate.meta set value = '${older[0]?.value}' where key = 'last_group'`);
    await queryPostgres(url, 'select pg_terminate_backend(pid::integer) from headgate.leases');
    while (ends.length === 0) await clock.advance(100);
    assert.deepEqual(ends, ['forgotten']);
    const epochOf = async () => (await queryPostgres(url, `select value from headgate.meta where key = 'epoch'`))[0];
    const renewed = await epochOf();
    await assert.rejects(append(store, 'a', '3'), UNAVAILABLE);
    assert.match(store.health().reason ?? '', /lacks changes that it had confirmed/);
    for (let seconds = 0; seconds < 5; seconds += 1) {
      await clock.advance(1_000);
      assert.deepEqual([await epochOf(), ends], [renewed, ['forgotten']], 'it does not try again');
    }
    await store.close();
    await using again = await open(systemClock);
    assert.notEqual(again.epoch, store.epoch, 'clients that have seen more begin anew');
    assert.deepEqual([await append(again, 'a', '3'), await textsOf(again, 'a')], [2, ['1', '3']]);
  },
);
