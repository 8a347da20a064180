import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { type Connection, openConnection } from '../sqlite/sqlite-connection.ts';
import { UPSERT_META } from '../store-identity.ts';
import { MIGRATIONS, type Migration, migrate } from './migrations.ts';
import { FIRST, openVersion1 } from './migrations-fixture.ts';

const log = recordingLog();
const second: Migration = {
  version: 2,
  statements: ['create table later (x integer)', 'insert into later values (1)'],
};

test('the versions count from 1 without gaps', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, index) => index + 1),
  );
});

test('a new file gets the same schema as an old one after all migrations', (t) => {
  const { connection: stepwise, path } = openVersion1(t);
  for (const { version } of MIGRATIONS) migrate(stepwise, { path, log, migrations: MIGRATIONS.slice(0, version) });
  const atOnce = openConnection(':memory:');
  t.after(() => atOnce.close());
  migrate(atOnce, { path: ':memory:', log });
  const schemaOf = (connection: Connection) =>
    connection.all('select type, name, sql from sqlite_schema order by type, name').map(({ sql }) => sql);
  assert.deepEqual(
    { schema: schemaOf(atOnce), version: versionOf(atOnce) },
    { schema: schemaOf(stepwise), version: versionOf(stepwise) },
  );
});

test('an older file is copied before it is migrated', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: [...FIRST, second] });
  const copy = openConnection(`${path}.bak-v1`);
  t.after(() => copy.close());
  assert.deepEqual(
    { now: versionOf(connection), later: connection.all('select x from later'), copied: versionOf(copy) },
    { now: '2', later: [{ x: 1 }], copied: '1' },
  );
});

test('a new file, and one of the newest version, is not copied', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: FIRST });
  assert.equal(existsSync(`${path}.bak-v1`) || existsSync(`${path}.bak-v0`), false);
});

test('a failed migration changes nothing, and retries reuse its copy', (t) => {
  const { connection, path } = openVersion1(t);
  for (const _attempt of [1, 2, 3]) failToMigrate(connection, path);
  assert.deepEqual(
    {
      version: versionOf(connection),
      tables: connection.all("select name from sqlite_schema where name = 'later'"),
      copies: copiesIn(dirname(path)),
    },
    { version: '1', tables: [], copies: ['headgate.db.bak-v1'] },
  );
});

test('a retry after the file was used keeps the first copy and adds one', (t) => {
  const { connection, path } = openVersion1(t);
  failToMigrate(connection, path);
  connection.run(UPSERT_META, ['used', 'since']);
  for (const _attempt of [1, 2]) failToMigrate(connection, path);
  const used = ['', '-2'].map((suffix) => {
    using copy = new DatabaseSync(`${path}.bak-v1${suffix}`, { readOnly: true });
    return copy.prepare("select value from meta where key = 'used'").get()?.value;
  });
  assert.deepEqual(
    [copiesIn(dirname(path)), used],
    [
      ['headgate.db.bak-v1', 'headgate.db.bak-v1-2'],
      [undefined, 'since'],
    ],
  );
});

test('version 2 stores how the last run of each workstream ended', (t) => {
  const { connection, path } = openVersion1(t);
  for (const wsId of ['a', 'b']) connection.run(OLD_WORKSTREAM, [wsId]);
  for (const [runId, status, endedMs] of [
    ['1', 'cancelled', 10],
    ['2', 'error', 20],
    ['3', 'running', null],
  ] as const)
    connection.run(OLD_RUN, [runId, status, endedMs]);
  migrate(connection, { path, log });
  assert.deepEqual(
    connection.all('select ws_id, last_run_status from workstreams order by ws_id').map((row) => ({ ...row })),
    [
      { ws_id: 'a', last_run_status: 'error' },
      { ws_id: 'b', last_run_status: null },
    ],
  );
});

test('version 21 has a place for the prefix of each conversation; earlier ones have none yet', (t) => {
  const { connection, path } = openVersion1(t);
  connection.run(OLD_WORKSTREAM, ['a']);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 20) });
  migrate(connection, { path, log });
  assert.deepEqual(connection.all('select * from prefixes'), []);
});

test('version 27 adds memories and an empty index of their words, which removes deleted words', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 26) });
  migrate(connection, { path, log });
  assert.deepEqual(
    [
      connection.all('select * from memories'),
      connection.all('select * from memory_words'),
      connection.all("select v from memory_words_config where k = 'secure-delete'"),
    ],
    [[], [], [{ v: 1 }]],
  );
});

test('version 28 has a place for templates; conversations that have begun keep their system prompt without any', (t) => {
  const { connection, path } = openVersion1(t);
  for (const wsId of ['a', 'b']) connection.run(OLD_WORKSTREAM, [wsId]);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 27) });
  connection.run("update workstreams set message_count = 3, context_after_seq = 1 where ws_id = 'a'");
  migrate(connection, { path, log });
  assert.deepEqual(connection.all('select * from opening_prompts'), [{ ws_id: 'a', after_seq: 1, content: '' }]);
});

test('version 11 adds the duration of occurrences, as far as their times show it', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 10) });
  for (const [atMs, startedMs, endedMs] of [
    [1, 10, 25],
    [2, 10, 5],
    [3, null, 5],
    [4, 10, null],
  ] as const)
    connection.run(OLD_OCCURRENCE, [atMs, startedMs, endedMs]);
  migrate(connection, { path, log });
  const rows = connection.all('select duration_ms, spent_ms, removed_job_json from cron_occurrences');
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [15, 0, null, null].map((durationMs) => [durationMs, 0, null]),
  );
});

test('version 12 makes credentials children of the operator token, and logins children of their token', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 11) });
  for (const createdBy of ['operator', 'token:tok_a']) connection.run(OLD_TOKEN, [createdBy]);
  for (const principal of ['operator', 'token:tok_a']) connection.run(OLD_SESSION, [principal]);
  connection.run(`insert into login_codes values ('digest', 'operator', 9, null)`);
  migrate(connection, { path, log });
  const lineageOf = (table: string) =>
    connection.all(`select parent_kind, parent_id from ${table} order by rowid`).map((row) => Object.values(row));
  const [operator, token] = [
    ['operator', 'operator'],
    ['token', 'tok_a'],
  ];
  assert.deepEqual(
    [lineageOf('api_tokens'), lineageOf('login_sessions'), lineageOf('login_codes')],
    [[operator, operator], [operator, token], [operator]],
  );
  assert.equal(connection.all('select scopes from login_codes')[0]?.scopes, 'read,write,approve');
});

test('versions 13 and 14 add a checksum to every row and the ends of every log, also after an interruption', async (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 12) });
  connection.run(`insert into workstreams (ws_id, generated_name, auto_approve, workdir, loaded, context_after_seq,
    message_count, run_epoch, created_ms, updated_ms) values ('a', 'ws', 0, '/', 0, 0, 12001, 1, 0, 0)`);
  connection.run(
    `${NUMBERS} insert into messages select 'a', n, iif(n % 2, 'r', null), '{"n":' || n || '}', n from numbers`,
    [12_001],
  );
  connection.run(`${NUMBERS} insert into events select 'a', n + 7, '{"n":' || n || '}', n from numbers`, [12_001]);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 13) });
  connection.run(
    'update messages set checksum = message_checksum(ws_id, seq, run_id, body_json, created_ms) where seq < 6000',
  );
  connection.close();
  await using store = await tempStore({ path });
  const messages = await store.readMessages('a', { after: 0, upTo: 12_001, limit: 20_000 });
  const events = await store.readEvents('a', 0, 20_000);
  assert.deepEqual(
    [
      messages.length,
      messages.every(({ json }) => json !== undefined),
      events.length,
      store.bounds('a'),
      store.health(),
    ],
    [12_001, true, 12_001, { first: 8, last: 12_008 }, { status: 'ok' }],
  );
});

test('version 15 ends auto-approve, because its giver is unknown', (t) => {
  const { connection, path } = openVersion1(t);
  connection.run(OLD_WORKSTREAM, ['a']);
  connection.run("update workstreams set auto_approve = 1 where ws_id = 'a'");
  migrate(connection, { path, log });
  assert.deepEqual(
    connection.all('select always_by, always_until_ms from workstreams').map((row) => ({ ...row })),
    [{ always_by: null, always_until_ms: null }],
  );
});

test('version 16 leaves the folder identity of older workstreams open, and lets them read no other folder', (t) => {
  const { connection, path } = openVersion1(t);
  connection.run(OLD_WORKSTREAM, ['a']);
  migrate(connection, { path, log });
  const [row] = connection.all('select workdir, workdir_ino, readable_json from workstreams');
  assert.deepEqual({ ...row }, { workdir: '/', workdir_ino: null, readable_json: '[]' });
  assert.deepEqual(connection.all('select * from workdirs'), []);
});

test('version 55 leaves the jobs of before, and their occurrences, to the active daemon', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 54) });
  connection.run(OLD_OCCURRENCE, [1, 2, 3]);
  connection.run("insert into cron_jobs values ('job_1', '{', 1, 1, 1, 1, 1, 2, null, 0, null, null)");
  migrate(connection, { path, log });
  const machinesIn = (table: string) => connection.all(`select machine from ${table}`);
  assert.deepEqual(
    [machinesIn('cron_jobs'), machinesIn('cron_occurrences'), connection.all('select * from main_events')],
    [[{ machine: null }], [{ machine: null }], []],
  );
});

test('in a conversation from before there were cuts, every message counts', (t) => {
  const { connection, path } = openVersion1(t);
  connection.run(OLD_WORKSTREAM, ['a']);
  migrate(connection, { path, log });
  assert.deepEqual(
    [connection.all('select cut_count from workstreams'), connection.all('select * from cuts')],
    [[{ cut_count: 0 }], []],
  );
});

test('rows that were damaged before there were checksums do not stop the migration, and count as damaged afterwards', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 11) });
  const damaged: Record<string, string> = {
    events: `insert into events values ('a', 1, '{"type":"tool_result","outp', 5)`,
    messages: `insert into messages values ('a', 1, 'r', '{"role":"tool","outp', 5)`,
    notes: `insert into notes values ('a', 0, 1, '{"type":"approval_resolved","appr', 5)`,
    journal: `insert into journal values ('r', 1, 'a', 'approval_decided', '{"decision":{"by', 5)`,
  };
  for (const statement of Object.values(damaged)) connection.run(statement);
  const bodies = () =>
    Object.keys(damaged).map((table) => connection.all(`select body_json from ${table}`).map((row) => row.body_json));
  const before = bodies();
  migrate(connection, { path, log });
  assert.deepEqual([versionOf(connection), bodies()], [String(MIGRATIONS.length), before]);
  const checksums = ['events', 'messages'].map((table) => connection.all(`select checksum from ${table}`));
  assert.deepEqual(checksums, [[{ checksum: null }], [{ checksum: null }]]);
});

test('a file of a newer version is refused with advice, and is not changed', async (t) => {
  const { connection, path } = openVersion1(t);
  connection.run(UPSERT_META, ['schema_version', String(MIGRATIONS.length + 1)]);
  await assert.rejects(tempStore({ path }), {
    message:
      `${path} has schema version ${MIGRATIONS.length + 1}, but this Headgate knows versions up to ${MIGRATIONS.length}. ` +
      'Start the newer Headgate that wrote it, or move the file away to begin with an empty one.',
  });
  assert.equal(versionOf(connection), String(MIGRATIONS.length + 1));
});

function failToMigrate(connection: Connection, path: string): void {
  const broken: Migration = { version: 2, statements: [...second.statements, 'insert into nowhere values (1)'] };
  assert.throws(
    () => migrate(connection, { path, log, migrations: [...FIRST, broken] }),
    /schema version 2 failed; nothing was changed/,
  );
}

const copiesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.includes('.bak-v'))
    .sort();

function versionOf(connection: Connection): unknown {
  return connection.all("select value from meta where key = 'schema_version'")[0]?.value;
}

const NUMBERS = 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)';
const OLD_WORKSTREAM = `insert into workstreams values
  (?, null, null, 'ws', null, null, 0, null, null, '/', 1, 0, 0, null, 1, 0, 0, 0)`;
const OLD_OCCURRENCE = `insert into cron_occurrences
  (job_id, scheduled_ms, through_ms, "trigger", status, epoch, attempts, started_ms, ended_ms)
  values ('job_1', ?1, ?1, 'schedule', 'ok', 1, 1, ?2, ?3)`;
const OLD_TOKEN = `insert into api_tokens values ('of ' || ?1, ?1, 'read', 'hash of ' || ?1, ?1, 1, null, null, null)`;
const OLD_SESSION = `insert into login_sessions values ('of ' || ?1, ?1, 'read', 1, 9, null)`;
const OLD_RUN = `insert into runs values (?, 'a', 'local', null, 'person', ?, '{}', 1, null, null, 0, 0, ?)`;
