import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { DaemonStore } from '../daemon-store.ts';
import { openPostgresStore } from './postgres-store.ts';

const installed = await needs('postgresql');

const UNAVAILABLE = { code: 'UNAVAILABLE' };
const append = (store: DaemonStore, wsId: string, message: string): Promise<number> =>
  store.commit({ events: { wsId, events: [{ type: 'info', message }] } });
const textsOf = async (store: DaemonStore, wsId: string): Promise<string[]> =>
  (await store.readEvents(wsId, 0, 100)).map(({ json, isDamaged }) =>
    isDamaged ? 'damaged' : JSON.parse(json).message,
  );

async function untilHealth(store: DaemonStore, status: 'ok' | 'degraded'): Promise<void> {
  while (store.health().status !== status) await new Promise(setImmediate);
}

/** The processes of the server that serve this database. */
async function sessionsOf(url: string): Promise<number[]> {
  const own = `application_name = 'headgate' and datname = current_database()`;
  return (await queryPostgres(url, `select pid from pg_stat_activity where ${own}`)).map(({ pid }) => Number(pid));
}
const signal = (pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) process.kill(pid, name);
};

test('a server that is silent counts as lost, and writes again once it answers', installed, async () => {
  const url = await (await sharedPostgres()).createDatabase();
  await using store = await openPostgresStore({
    url,
    machine: someMachine(),
    clock: systemClock,
    log: recordingLog(),
    silentMs: 300,
  });
  await append(store, 'a', '1');
  const own = `application_name = 'headgate' and datname = current_database() and query like '%commit%'`;
  const [session] = await queryPostgres(url, `select pid from pg_stat_activity where ${own}`);
  process.kill(Number(session?.pid), 'SIGSTOP');
  const unanswered = assert.rejects(append(store, 'a', '2'), { code: 'UNAVAILABLE' });
  await untilHealth(store, 'degraded');
  await assert.rejects(append(store, 'a', 'never'), { code: 'UNAVAILABLE' });
  process.kill(Number(session?.pid), 'SIGCONT');
  await unanswered;
  await untilHealth(store, 'ok');
  assert.equal(await append(store, 'a', '3'), 2);
  assert.deepEqual(await textsOf(store, 'a'), ['1', '3']);
  const [next] = await queryPostgres(url, `select pid from pg_stat_activity where ${own}`);
  process.kill(Number(next?.pid), 'SIGSTOP');
  await store.close(); // does not wait for it
  process.kill(Number(next?.pid), 'SIGCONT');
});

test(
  'a server that is silent to all counts as lost once the lease is over, for what is under way, too',
  installed,
  async () => {
    const url = await (await sharedPostgres()).createDatabase();
    await using store = await openPostgresStore({
      url,
      machine: someMachine(),
      clock: systemClock,
      log: recordingLog(),
    });
    await append(store, 'a', '1');
    assert.deepEqual(await textsOf(store, 'a'), ['1']);
    const sessions = await sessionsOf(url);
    signal(sessions, 'SIGSTOP');
    const beganMs = performance.now();
    try {
      await Promise.all([append(store, 'a', '2'), textsOf(store, 'a')].map((one) => assert.rejects(one, UNAVAILABLE)));
    } finally {
      signal(sessions, 'SIGCONT');
    }
    assert.ok(performance.now() - beganMs < 30_000, 'long before the limit of a statement, a minute');
  },
);

test(
  'reads on connections that stay silent are made again once the database can be written again',
  installed,
  async () => {
    const url = await (await sharedPostgres()).createDatabase();
    await using store = await openPostgresStore({
      ...{ url, machine: someMachine(), clock: systemClock, log: recordingLog() },
      retryForMs: 30_000,
    });
    await append(store, 'a', '1');
    const read = () => Promise.all([1, 2, 3, 4].map(() => textsOf(store, 'a')));
    await read();
    const [row] = await queryPostgres(url, 'select pid from headgate.leases');
    const writer = Number(row?.pid);
    const others = (await sessionsOf(url)).filter((pid) => pid !== writer);
    signal([writer, ...others], 'SIGSTOP');
    const beganMs = performance.now();
    const asked = Promise.all([append(store, 'a', '2'), read()]);
    try {
      await untilHealth(store, 'degraded');
      signal([writer], 'SIGCONT'); // it gives its lock back, and the others stay silent
      const [offset, texts] = await asked;
      assert.deepEqual([offset, texts.map(([first]) => first)], [2, ['1', '1', '1', '1']]);
    } finally {
      signal(others, 'SIGCONT');
    }
    assert.ok(performance.now() - beganMs < 30_000, 'long before the limit of a statement, a minute');
  },
);
