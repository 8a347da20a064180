import { SqliteDialect, type SqliteStatement } from 'kysely';
import type { Connection } from './sqlite-connection.ts';

/** kysely on the daemon's connection, for reading only: a statement without result rows is refused. */
type ReadConnection = Pick<Connection, 'prepare' | 'all' | 'close'>;

export function sqliteDialect(connection: ReadConnection): SqliteDialect {
  return new SqliteDialect({
    database: {
      prepare: (sql) => toStatement(connection, sql),
      close() {
        connection.close();
      },
    },
  });
}

function toStatement(connection: ReadConnection, sql: string): SqliteStatement {
  const prepared = connection.prepare(sql);
  // A write here would run outside the turn's group, and a `begin` would keep a transaction open across turns.
  if (!prepared.reader) throw new Error(`the store's db only reads; commit a unit instead of: ${sql}`);
  return {
    reader: true,
    all: (parameters) => connection.all(sql, parameters),
    run: () => ({ changes: 0, lastInsertRowid: 0 }),
    iterate() {
      // A stream holds kysely's only connection from row to row, so any other read meanwhile would wait forever.
      throw new Error(`read page by page instead of streaming: ${sql}`);
    },
  };
}
