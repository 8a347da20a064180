import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build } from 'esbuild';
import { MIGRATIONS, migrate } from '../src/gateway/store/schema/migrations.ts';
import { type Connection, openConnection } from '../src/gateway/store/sqlite/sqlite-connection.ts';
import { recordingLog } from '../src/testing/temp-store.ts';
import { newestSchema, schemaAfter } from './newest-schema.js';

const log = recordingLog();

function opened(t: { after(fn: () => void): void }): Connection {
  const connection = openConnection(':memory:');
  t.after(() => connection.close());
  return connection;
}

/** The schema, and the rows of all tables, also of those of SQLite. */
function contentOf({ all }: Connection) {
  const schema = all('select type, name, tbl_name, sql from sqlite_schema order by rowid');
  const tables = ['sqlite_schema', ...schema.filter(({ type }) => type === 'table').map(({ name }) => String(name))];
  const rows = tables.slice(1).map((name) => [name, all(`select * from "${name}"`)] as const);
  const pragmas = ['user_version', 'application_id', 'encoding', 'auto_vacuum'].map((name) => all(`pragma ${name}`));
  return { schema, rows: Object.fromEntries(rows), pragmas };
}

test('the schema of the build is that of all migrations, with the same rows', (t) => {
  const [stepwise, atOnce] = [opened(t), opened(t)];
  migrate(stepwise, { path: ':memory:', log, atOnce: undefined });
  migrate(atOnce, { path: ':memory:', log, atOnce: schemaAfter(MIGRATIONS, opened(t)) });
  assert.deepEqual(contentOf(atOnce), contentOf(stepwise));
  const { meta, memory_words_config: words } = contentOf(atOnce).rows;
  assert.deepEqual(meta?.at(-1), { key: 'schema_version', value: String(MIGRATIONS.length) });
  assert.equal(words?.length, 2, 'a migration has inserted one');
});

test('the bundle has that schema', async (t) => {
  const { outputFiles } = await build({
    entryPoints: ['src/gateway/store/schema/built/newest-schema.ts'],
    format: 'esm',
    bundle: true,
    write: false,
    plugins: [newestSchema],
  });
  const bundled = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`);
  assert.deepEqual(bundled.newestSchema, schemaAfter(MIGRATIONS, opened(t)));
});

test('only an empty database gets the schema of the build', (t) => {
  const [empty, other] = [opened(t), opened(t)];
  other.run('create table other (x integer)');
  const atOnce = ['create table meta (key text primary key, value text)'];
  for (const connection of [empty, other]) migrate(connection, { path: ':memory:', log, atOnce });
  const tablesOf = ({ all }: Connection) => all("select name from sqlite_schema where type = 'table'").length;
  assert.equal(tablesOf(empty), 1);
  assert.ok(tablesOf(other) > MIGRATIONS.length / 2);
});
