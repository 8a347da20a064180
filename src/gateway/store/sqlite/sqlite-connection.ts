import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { defineChecksums } from '../row-checksum.ts';

/** A prepared statement and whether it gives rows. */
export interface Prepared {
  statement: StatementSync;
  reader: boolean;
}

/** One connection to a SQLite file, with its prepared statements. */
export interface Connection {
  readonly database: DatabaseSync;
  /** The statement of this text, prepared once; the `maxStatements` used last are kept. */
  prepare(sql: string): Prepared;
  /** Runs a statement to its end and tells how many rows it changed. */
  run(sql: string, parameters?: readonly unknown[]): number;
  all(sql: string, parameters?: readonly unknown[]): Record<string, unknown>[];
  /** Row by row, each read when it is asked for. */
  iterate(sql: string, parameters?: readonly unknown[]): Iterable<Record<string, unknown>>;
  /** As `iterate`, with whole numbers as bigints: a damaged one may be beyond what a number holds, which would throw. */
  iterateStored(sql: string, parameters?: readonly unknown[]): Iterable<Record<string, unknown>>;
  close(): void;
}

/** Opens the daemon's writing connection; the file is made readable by its owner only. */
export function openConnection(path: string, maxStatements = 256): Connection {
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: false });
  defineChecksums(database);
  return toConnection(database, maxStatements);
}

/** A connection that changes nothing of the database and its log, not even when it is closed. */
export function openReadingConnection(path: string): Connection {
  return toConnection(new DatabaseSync(path, { timeout: 5_000, readOnly: true }), 16);
}

function toConnection(database: DatabaseSync, maxStatements: number): Connection {
  const cache = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const found = cache.get(sql);
    if (found) {
      cache.delete(sql); // and back in as the youngest
      cache.set(sql, found);
      return found;
    }
    const statement = database.prepare(sql);
    const prepared = { statement, reader: statement.columns().length > 0 };
    cache.set(sql, prepared);
    if (cache.size > maxStatements) cache.delete(cache.keys().next().value ?? '');
    return prepared;
  };
  function* iterate(sql: string, parameters: readonly unknown[] = []): Iterable<Record<string, unknown>> {
    try {
      yield* prepare(sql).statement.iterate(...parameters.map(toBindable));
    } catch (error) {
      cache.delete(sql); // its next use would report this failure again, whatever it reads
      throw error;
    }
  }
  return {
    database,
    prepare,
    run: (sql, parameters = []) => Number(prepare(sql).statement.run(...parameters.map(toBindable)).changes),
    // Plain objects: the driver's own rows have no prototype.
    all: (sql, parameters = []) =>
      prepare(sql)
        .statement.all(...parameters.map(toBindable))
        .map((row) => ({ ...row })),
    iterate,
    iterateStored(sql, parameters) {
      prepare(sql).statement.setReadBigInts(true);
      return iterate(sql, parameters);
    },
    close() {
      cache.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** Says which value cannot be stored; the driver's own message does not. */
function toBindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a parameter of type ${typeof value} cannot be stored`);
}
