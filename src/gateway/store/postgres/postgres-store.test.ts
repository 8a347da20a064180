import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { systemClock } from '../../../clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { DaemonStore } from '../daemon-store.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { storeContract } from '../store.contract.ts';
import { inspectPostgres, plannedPostgresMigration } from './inspect-postgres.ts';
import { openPostgresStore } from './postgres-store.ts';

const installed = await needs('postgresql');

const open = (url: string) =>
  openPostgresStore({ url, machine: someMachine(), clock: fakeClock(1_000), log: recordingLog() });
const newDatabase = async () => (await sharedPostgres()).createDatabase();

if (!installed.skip) storeContract('postgres', async () => open(await newDatabase()));

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

test('what a start would migrate is known before it', installed, async () => {
  const url = await newDatabase();
  const { from, to, usableFrom } = await plannedPostgresMigration(url);
  assert.deepEqual([from, to > 50], [0, true]);
  await (await open(url)).close();
  assert.deepEqual(await plannedPostgresMigration(url), { from: to, to, usableFrom });
  await queryPostgres(url, `insert into headgate.schema_migrations values (${to + 1}, 'x')`);
  await assert.rejects(plannedPostgresMigration(url), (error: Error) => {
    assert.match(error.message, /this Headgate knows versions up to/);
    assert.doesNotMatch(error.message, /cannot be reached/);
    return true;
  });
  assert.match((await inspectPostgres(url)).refusal ?? '', /this Headgate knows versions up to/);
});

test('logs, the epoch and the time at which the daemon was alive are kept by the database', installed, async () => {
  const url = await newDatabase();
  const before = await open(url);
  await append(before, 'a', '1', '2');
  await append(before, 'b', 'x');
  await before.markAlive(5_000);
  await before.close();
  await using again = await open(url);
  assert.throws(() => again.bounds('a'), /nobody has read where the log of workstream a ends/);
  await again.openLogs(['a', 'b', 'c']);
  assert.deepEqual(
    [again.epoch === before.epoch, again.lastAliveMs, again.bounds('a'), again.bounds('b'), again.bounds('c')],
    [true, 5_000, { first: 1, last: 2 }, { first: 1, last: 1 }, { first: 1, last: 0 }],
  );
  assert.equal(await append(again, 'a', '3'), 3);
});

test(
  'a log goes on where it ended, whether or not it was opened before, and while others open it',
  installed,
  async () => {
    const url = await newDatabase();
    const before = await open(url);
    await append(before, 'a', '1', '2');
    await before.commit({
      events: { wsId: 'b', events: [] },
      elsewhere: [{ wsId: 'c', events: [{ type: 'info', message: '1' }] }],
    });
    await before.close();
    await using again = await open(url);
    const opening = Promise.all([again.openLogs(['a', 'c']), again.readEvents('a', 0, 10), again.openLogs(['a'])]);
    const appended = await Promise.all([append(again, 'a', '3'), append(again, 'c', '2'), append(again, 'a', '4')]);
    await opening;
    assert.deepEqual([appended, again.bounds('a').last, again.bounds('c').last], [[3, 2, 4], 4, 2]);
    assert.deepEqual(await textsOf(again, 'c'), ['1', '2']);
  },
);

test('the beginning of a log is removed, and stays removed after a restart', installed, async () => {
  const url = await newDatabase();
  const before = await open(url);
  await append(before, 'a', '1', '2', '3');
  await before.dropPrefix('a', 2);
  assert.deepEqual([before.bounds('a'), await textsOf(before, 'a')], [{ first: 3, last: 3 }, ['3']]);
  await before.close();
  await using again = await open(url);
  await again.openLogs(['a']);
  assert.deepEqual([again.bounds('a'), await textsOf(again, 'a')], [{ first: 3, last: 3 }, ['3']]);
});

test('altered and missing rows are detected, and everything else stays available', installed, async () => {
  const url = await newDatabase();
  await using store = await open(url);
  await queryPostgres(
    url,
    `insert into headgate.workstreams (ws_id, generated_name, workdir, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
      select 'a', 'n', '/', 0, 0, 0, 0, 1, 1`,
  );
  await append(store, 'a', '1', '2', '3', '4');
  await queryPostgres(
    url,
    `update headgate.events set body_json = replace(body_json, '2', '9') where "offset" = 2; delete from headgate.events where "offset" = 4`,
  );
  assert.deepEqual(await textsOf(store, 'a'), ['1', 'damaged', '3', 'damaged']);
  const { status, reason } = store.health();
  assert.deepEqual(
    [status, reason],
    ['degraded', 'a part of the database is damaged: events 2 to 2 of workstream a are missing or altered'],
  );
  assert.equal(await append(store, 'a', '5'), 5);
});

test('`db` only reads', installed, async () => {
  await using store = await open(await newDatabase());
  await assert.rejects(store.db.deleteFrom('meta').execute(), ({ cause }) =>
    /cannot execute DELETE in a read-only transaction/.test(String(cause)),
  );
});

test('a parameter with a NUL character is stored with a replacement character', installed, async () => {
  await using store = await open(await newDatabase());
  await store.commit({ statements: [setMeta('k', 'a\0b')] });
  const rows = await store.db.selectFrom('meta').select('value').where('key', '=', 'k').execute();
  assert.deepEqual(rows, [{ value: 'a\ufffdb' }]);
});

const NEWEST = MIGRATIONS.at(-1)?.version;

test('a database of a newer Headgate, or with other migrations, is refused and not changed', installed, async () => {
  const url = await newDatabase();
  await (await open(url)).close();
  await queryPostgres(url, `update headgate.schema_migrations set checksum = 'other'`);
  await assert.rejects(open(url), new RegExp(`came to schema version ${NEWEST} with other migrations`));
  await queryPostgres(url, `update headgate.schema_migrations set version = 999, usable_from = 999`);
  await assert.rejects(
    open(url),
    new RegExp(`has schema version 999, but this Headgate knows versions up to ${NEWEST}`),
  );
  assert.equal((await queryPostgres(url, 'select * from headgate.schema_migrations')).length, 1);
});

test(
  'of two daemons that start at once, one migrates the database and the other one is refused',
  installed,
  async () => {
    const url = await newDatabase();
    const both = await Promise.allSettled(
      ['a', 'b'].map((nodeId) =>
        openPostgresStore({ url, machine: someMachine(nodeId), clock: systemClock, log: recordingLog() }),
      ),
    );
    const stores = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    assert.equal(stores.length, 1);
    assert.match(
      refused.join(),
      /^LeaseHeld: Another Headgate daemon(?: \([ab] at http:\/\/[ab]\))? is using postgresql:\/\/127\.0\.0\.1:\d+\/test_\d+\. Stop it/,
    );
    for (const store of stores) await store.close();
  },
);
