// Makes the schema of new databases when the daemon is built: a first start would take four times as long to run all migrations.

export const newestSchema = {
  name: 'newest-schema',
  setup(builder) {
    const file = /[\\/]src[\\/]gateway[\\/]store[\\/]schema[\\/]built[\\/]newest-schema\.ts$/;
    builder.onLoad({ filter: file }, async () => {
      const { MIGRATIONS } = await import('../src/gateway/store/schema/migrations.ts');
      const { openConnection } = await import('../src/gateway/store/sqlite/sqlite-connection.ts');
      const connection = openConnection(':memory:');
      try {
        const statements = schemaAfter(MIGRATIONS, connection);
        return { contents: `export const newestSchema = ${JSON.stringify(statements)};`, loader: 'js' };
      } finally {
        connection.close();
      }
    });
  },
};

/** What makes the same tables and rows as the migrations, which run in this empty database. */
export function schemaAfter(migrations, { database, all }) {
  const changes = () => all('select total_changes() as count')[0].count;
  const writing = [];
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const before = changes();
    database.exec(statement);
    if (WRITES.test(statement) && changes() > before) writing.push(statement);
  }
  return [...all(CREATED).map(({ sql }) => sql), ...writing];
}

const WRITES = /^\s*(insert|replace|update|delete)\b/i;

/** Without what SQLite creates itself: indexes of keys, and the tables of its full-text search. */
const CREATED = `select sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\'
  and name not in (select name from pragma_table_list where type = 'shadow') order by rowid`;
