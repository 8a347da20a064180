import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { recordingLog } from '../../../testing/temp-store.ts';
import { MIGRATIONS, type Migration, migrate, plannedMigration, schemaOf } from './migrations.ts';
import { FIRST, openVersion1 } from './migrations-fixture.ts';

const log = recordingLog();

/** After version 1: only this one adds, and leaves a way back. */
const adding: Migration = {
  version: 2,
  isAdditive: true,
  statements: ['create table later (x integer not null primary key)', 'alter table workstreams add column mood text'],
};
const changing: Migration = { version: 3, statements: ['drop table later'] };

test('a file whose newest tables were only added may be used by the version before, and by no earlier one', (t) => {
  const { connection, path } = openVersion1(t);
  const upTo = (...migrations: Migration[]) => ({ path, log, migrations: [...FIRST, ...migrations] });
  const { version: lowest } = FIRST[0] ?? assert.fail();
  migrate(connection, upTo(adding));
  connection.run('insert into later values (1)');
  assert.deepEqual(plannedMigration(connection, upTo()), { from: 2, to: 2, usableFrom: lowest });
  migrate(connection, upTo());
  connection.run(NAMED_WORKSTREAM, ['a']);
  assert.deepEqual(
    [
      schemaOf(connection.all).version,
      connection.all('select x from later'),
      connection.all('select mood from workstreams'),
    ],
    [2, [{ x: 1 }], [{ mood: null }]],
  );
  assert.equal(existsSync(`${path}.bak-v2`), false);
  assert.throws(() => migrate(connection, { path, log, migrations: [] }), /has schema version 2, but this Headgate/);

  migrate(connection, upTo(adding, changing));
  assert.throws(
    () => migrate(connection, upTo(adding)),
    /has schema version 3, but this Headgate knows versions up to 2/,
  );
  assert.throws(() => plannedMigration(connection, upTo()), /has schema version 3/);
});

test('a damaged value opens no way back, and a damaged version is no new database', (t) => {
  const { connection, path } = openVersion1(t);
  const upTo = (...migrations: Migration[]) => ({ path, log, migrations: [...FIRST, ...migrations] });
  migrate(connection, upTo(adding));
  const set = (key: string, value: string) => connection.run('update meta set value = ? where key = ?', [value, key]);
  for (const damaged of ['', '0', '-1', '0.5', '1e0', 'x', '3', '9'.repeat(20)]) {
    set('schema_usable_from', damaged);
    assert.throws(() => migrate(connection, upTo()), /has schema version 2, but this Headgate knows/, damaged);
  }
  set('schema_usable_from', '1');
  for (const damaged of ['', '-1', '2.5', '1e9', 'x', '9'.repeat(20)]) {
    set('schema_version', damaged);
    assert.throws(
      () => migrate(connection, upTo()),
      /is damaged: it does not say which schema version it has/,
      damaged,
    );
  }
  connection.run("delete from meta where key = 'schema_version'");
  assert.throws(() => migrate(connection, upTo(adding)), /is damaged: it does not say which schema version/);
});

test('additive migrations only add what an earlier version does not notice', () => {
  const isAddition = (statement: string) =>
    /^\s*create (table|index)\b/i.test(statement) ||
    (/^\s*alter table \w+ add column\b/i.test(statement) &&
      !(/not null/i.test(statement) && !/default/i.test(statement)));
  const others = [
    'drop table a',
    'create unique index a on b (c)',
    'alter table a add column b text not null',
    'update a set b = 1',
    'create trigger a after insert on b begin select 1; end',
  ];
  assert.deepEqual(others.filter(isAddition), []);
  for (const { version, isAdditive, statements, fill } of [...MIGRATIONS, adding])
    if (isAdditive) assert.deepEqual([statements.every(isAddition), fill], [true, undefined], `version ${version}`);
});

const NAMED_WORKSTREAM = `insert into workstreams (ws_id, generated_name, auto_approve, workdir, loaded, context_after_seq,
  message_count, run_epoch, aborted_last_run, created_ms, updated_ms) values (?, 'ws', 0, '/', 1, 0, 0, 1, 0, 0, 0)`;
