import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres } from '../../../testing/postgres-server.ts';
import { tempDir } from '../../../testing/temp-store.ts';
import { toBlock } from '../compaction/block.ts';
import type { DaemonStore } from '../daemon-store.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { versionAfter } from '../schema/schema-version.ts';
import { openConnection } from '../sqlite/sqlite-connection.ts';
import { createDatabase, dying, fill, openFile, openServer, toFile, toServer, type Wrap } from './copy-fixture.ts';
import { CopyRefused } from './copy-side.ts';
import type { Copied } from './copy-store.ts';

const installed = await needs('postgresql');

/** What a daemon reads of the store. */
async function contentOf({ epoch, db, ...store }: DaemonStore): Promise<object> {
  const wsIds = ['a', 'ä', 'B'];
  await store.openLogs(wsIds);
  const logs = wsIds.map(async (wsId) => ({
    bounds: store.bounds(wsId),
    events: await store.readEvents(wsId, 0, 100),
    messages: await db.selectFrom('messages').selectAll().where('ws_id', '=', wsId).orderBy('seq').execute(),
  }));
  const window = await db.selectFrom('meta').select('value').where('key', '=', 'window:model').execute();
  const words = await db
    .selectFrom('message_words as w' as never)
    .select('rowid' as never)
    .where(store.words.matches({ table: 'message_words', as: 'w' }, '"GRÜßE" AND "number3"'))
    .execute();
  const agents = await sql`select agent_id from sub_agents order by rowid`.execute(db);
  return { epoch, logs: await Promise.all(logs), window, words, agents: agents.rows };
}

/** Copies with a kill in each attempt until the last one; `whileHalf` looks at each half copy. */
async function untilCopied(attempt: (wrap: Wrap) => Promise<Copied>, whileHalf: () => Promise<void>): Promise<Copied> {
  for (let kills = 0; ; kills += 1) {
    try {
      return { ...(await attempt(dying)), damaged: kills };
    } catch (error) {
      assert.equal(String(error), 'Error: killed');
      if (kills % 4 === 0) await whileHalf();
    }
  }
}

test('a copy goes to PostgreSQL and back through kills, and each row arrives once', installed, async () => {
  using dir = tempDir();
  const [first, back] = ['first.db', 'back.db'].map((name) => join(dir.path, name)) as [string, string];
  const url = await createDatabase();
  const store = await openFile(first);
  await fill(store, { messages: 30 });
  const content = await contentOf(store);
  await store.close();

  const refused = (open: () => Promise<unknown>) =>
    assert.rejects(open, /holds an unfinished copy of .* Run the same headgate store migrate again/);
  const there = await untilCopied(
    (wrap) => toServer(first, url, wrap),
    () => refused(() => openServer(url)),
  );
  assert.ok(there.damaged >= 6, `${there.damaged} kills`);
  const server = await openServer(url);
  assert.deepEqual(await contentOf(server), content);
  const [next] = await queryPostgres(
    url,
    `insert into headgate.channel_inbox (channel, account, update_id, chat, sender_id, state, received_ms)
      values ('telegram', 'bot', '2', 'c', 's', 'done', 6) returning position`,
  );
  assert.equal(Number(next?.position), 42, 'the database numbers rows after the copied ones');
  assert.equal(await server.commit({ events: { wsId: 'a', events: [{ type: 'info', message: 'later' }] } }), 6);
  const later = await contentOf(server);
  await server.close();

  const home = await untilCopied(
    (wrap) => toFile(url, back, wrap),
    () => refused(() => openFile(back)),
  );
  const returned = await openFile(back);
  assert.deepEqual(await contentOf(returned), later);
  await returned.close();
  const digests = ({ tables }: Copied) =>
    Object.fromEntries(tables.map(({ name, rows, sha256 }) => [name, `${rows} ${sha256}`]));
  assert.equal(digests(there).messages, digests(home).messages);
  assert.notEqual(digests(there).events, digests(home).events);
  await using old = await openFile(first);
  assert.notEqual(old.epoch, returned.epoch, 'the former store has another history from now on');
});

test('a copy that differs is not complete, and the next run copies everything again', installed, async () => {
  using dir = tempDir();
  const file = join(dir.path, 'headgate.db');
  const url = await createDatabase();
  const store = await openFile(file);
  await fill(store);
  await store.close();
  const altering: Wrap = (side) => ({
    ...side,
    insert: (table, rows) =>
      side.insert(table, table.name === 'messages' ? rows.map((row) => row.with(3, '{}')) : rows),
  });
  await assert.rejects(toServer(file, url, altering), /differs from .*headgate\.db in messages\. The next run copies/);
  await assert.rejects(openServer(url), /holds an unfinished copy/);
  assert.deepEqual((await toServer(file, url)).isContinued, false);
  await using server = await openServer(url);
  assert.equal((await server.readEvents('a', 0, 100)).length, 5);
});

test('a daemon that runs on the source between two attempts makes the copy begin again', installed, async () => {
  using dir = tempDir();
  const file = join(dir.path, 'headgate.db');
  const url = await createDatabase();
  const store = await openFile(file);
  await fill(store);
  await store.close();
  await assert.rejects(toServer(file, url, dying), /killed/);
  await assert.rejects(toServer(file, url, dying), /killed/);
  const again = await openFile(file);
  await again.commit({
    statements: [{ sql: `update applied_templates set temperature = 0.7 where ws_id = 'a'`, parameters: [] }],
  });
  const content = await contentOf(again);
  await again.close();
  await toServer(file, url);
  await using server = await openServer(url);
  assert.deepEqual(await contentOf(server), content);
  assert.deepEqual(await queryPostgres(url, `select temperature from headgate.applied_templates where ws_id = 'a'`), [
    { temperature: 0.7 },
  ]);
});

test('compressed events arrive as they were written, and damaged ones as damaged', installed, async () => {
  using dir = tempDir();
  const file = join(dir.path, 'headgate.db');
  const url = await createDatabase();
  const store = await openFile(file);
  await fill(store);
  await store.close();
  const connection = openConnection(file);
  const bodies = connection.all(`select body_json from events where ws_id = 'a' order by "offset"`);
  const texts = connection.all(`select body_json from messages where ws_id = 'a' and seq <= 2 order by seq`);
  const block = toBlock(
    String(bodies[1]?.body_json),
    { after: 0, upTo: 2 },
    texts.map((row) => String(row.body_json)),
  );
  const update = `update events set body_json = ? where ws_id = 'a' and "offset" = ?`;
  connection.run(update, [block, 2]);
  connection.run(update, [Buffer.from('no block at all'), 4]);
  connection.close();
  const before = await openFile(file);
  const events = await before.readEvents('a', 0, 100);
  await before.close();
  assert.deepEqual(
    events.map(({ offset }) => offset),
    [1, 2, 3, 5], // a log without a workstream shows no placeholders
  );
  assert.equal((await toServer(file, url)).damaged, 1);
  await using server = await openServer(url);
  assert.deepEqual(await server.readEvents('a', 0, 100), events);
});

test('what cannot be copied is refused before anything is changed', installed, async () => {
  using dir = tempDir();
  const [file, other] = ['one.db', 'other.db'].map((name) => join(dir.path, name)) as [string, string];
  const url = await createDatabase();
  const refused = (copy: Promise<unknown>, message: RegExp) =>
    assert.rejects(copy, (error) => error instanceof CopyRefused && message.test(error.message));
  for (const path of [file, other]) {
    const store = await openFile(path);
    await fill(store, { messages: 1 });
    await store.close();
  }
  await refused(toFile(url, join(dir.path, 'new.db')), /There is no store in postgresql:\/\/127/);
  await refused(toServer(join(dir.path, 'none.db'), url), /There is no store at /);

  await assert.rejects(toServer(file, url, dying), /killed/);
  await refused(toServer(other, url), /unfinished copy of another store, .*one\.db/);
  await refused(toFile(url, join(dir.path, 'new.db')), /is itself an unfinished copy/);
  await toServer(file, url);
  await refused(toServer(other, url), /is not empty: it has rows in applied_templates/);
  await refused(toFile(url, other), /other\.db is not empty/);

  const setMeta = (key: string, value: string) => {
    const connection = openConnection(file);
    connection.run(`insert into meta values (?, ?) on conflict (key) do update set value = excluded.value`, [
      key,
      value,
    ]);
    connection.close();
  };
  setMeta('schema_version', '9999');
  await refused(toServer(file, await createDatabase()), /schema version 9999, but this Headgate knows versions up to/);
  setMeta('schema_version', '40');
  await refused(toServer(file, await createDatabase()), /schema version 40, but .* Start the daemon there once/);
  setMeta('schema_version', 'x');
  await refused(toServer(file, await createDatabase()), /one\.db is damaged: it does not say which schema version/);
  const broken = join(dir.path, 'broken.db');
  writeFileSync(broken, 'no database at all '.repeat(500));
  await refused(toServer(broken, await createDatabase()), /broken\.db is damaged: file is not a database\. Restore/);

  const running = await openServer(url);
  await assert.rejects(toFile(url, join(dir.path, 'new.db')), /Another Headgate daemon is using postgresql:/);
  await running.close();
  const crashed = openConnection(other);
  crashed.run(`update meta set value = '0' where key = 'clean_stop'`);
  crashed.close();
  await refused(toServer(other, await createDatabase()), /did not stop in an orderly way/);
});

test('each database says itself which versions may use it', installed, async () => {
  using dir = tempDir();
  const [first, back] = ['first.db', 'back.db'].map((name) => join(dir.path, name)) as [string, string];
  const url = await createDatabase();
  const store = await openFile(first);
  await store.commit({
    statements: [{ sql: `update meta set value = '1' where key = 'schema_usable_from'`, parameters: [], expect: 1 }],
  });
  await store.close();
  await toServer(first, url);
  await toFile(url, back);
  const connection = openConnection(back);
  // Left behind by a copy from before it, it would let an older version use tables that changed since.
  const { usableFrom } = versionAfter(MIGRATIONS);
  assert.deepEqual(connection.all("select value from meta where key = 'schema_usable_from'"), [
    { value: String(usableFrom) },
  ]);
  connection.close();
});
