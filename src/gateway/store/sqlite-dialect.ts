import { SqliteDialect, type SqliteStatement } from 'kysely';
import { type Connection, type Prepared, toBindable } from './connection.ts';

/** kysely over the daemon's connection, for reading: a statement without result rows is refused. */
export function sqliteDialect(connection: Connection): SqliteDialect {
  return new SqliteDialect({
    database: {
      prepare: (sql) => toStatement(connection, sql),
      close() {
        connection.close();
      },
    },
  });
}

function toStatement(connection: Connection, sql: string): SqliteStatement {
  const prepared = connection.prepare(sql);
  // A write here would run outside the turn's group, and a `begin` would hold a transaction open over other turns.
  if (!prepared.reader) throw new Error(`the store's db only reads; commit a unit instead of: ${sql}`);
  return {
    reader: true,
    all: (parameters) => connection.all(sql, parameters),
    run: () => ({ changes: 0, lastInsertRowid: 0 }),
    iterate: (parameters) => iterate(connection, sql, parameters),
  };
}

/** A stream is left and entered again between rows, so it must not use the shared statement. */
function* iterate(connection: Connection, sql: string, parameters: readonly unknown[]): IterableIterator<unknown> {
  const own: Prepared['statement'] = connection.database.prepare(sql);
  for (const row of own.iterate(...parameters.map(toBindable))) yield { ...row };
}
