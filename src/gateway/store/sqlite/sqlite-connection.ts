import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { defineAuditDigest } from '../audit-digest.ts';
import { defineChecksums } from '../row-checksum.ts';

/** A prepared statement, and whether it returns rows. */
export interface Prepared {
  statement: StatementSync;
  reader: boolean;
}

/** A connection to a SQLite file, with its prepared statements. */
export interface Connection {
  readonly database: DatabaseSync;
  /** The prepared statement for this text. The `maxStatements` most recently used are cached. */
  prepare(sql: string): Prepared;
  /** Runs a statement to its end; returns how many rows changed. */
  run(sql: string, parameters?: readonly unknown[]): number;
  all(sql: string, parameters?: readonly unknown[]): Record<string, unknown>[];
  /** Reads row by row, on demand. */
  iterate(sql: string, parameters?: readonly unknown[]): Iterable<Record<string, unknown>>;
  /** Like `iterate`, with integers as bigints: a damaged one may exceed the range of a number, which would throw. */
  iterateStored(sql: string, parameters?: readonly unknown[]): Iterable<Record<string, unknown>>;
  /** All rows of `iterateStored` at once, in a third of the time; each is the list of its columns' values. */
  allStored(sql: string, parameters?: readonly unknown[]): unknown[][];
  close(): void;
}

/** Opens the daemon's writing connection; only the owner can read the file. */
export function openConnection(path: string, maxStatements = 256): Connection {
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: false });
  defineChecksums(database);
  defineAuditDigest(database);
  return toConnection(database, maxStatements);
}

/** The size of the file's pages. */
export function pageBytesOf(connection: Pick<Connection, 'all'>): number {
  const [row] = connection.all('pragma page_size');
  return Number(row?.page_size);
}

/** Opens a connection that never changes the database or its log, not even when it is closed. */
export function openReadingConnection(path: string): Connection {
  return toConnection(new DatabaseSync(path, { timeout: 5_000, readOnly: true }), 16);
}

function toConnection(database: DatabaseSync, maxStatements: number): Connection {
  const cache = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const found = cache.get(sql);
    if (found) {
      cache.delete(sql); // and reinserted as the most recent
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
    run: (sql, parameters = []) => Number(prepare(sql).statement.run(...parameters.map(toStorable)).changes),
    // Plain objects, because the driver's rows have no prototype.
    all: (sql, parameters = []) =>
      prepare(sql)
        .statement.all(...parameters.map(toBindable))
        .map((row) => ({ ...row })),
    iterate,
    iterateStored(sql, parameters) {
      prepare(sql).statement.setReadBigInts(true);
      return iterate(sql, parameters);
    },
    allStored(sql, parameters = []) {
      const { statement } = prepare(sql);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      const rows: unknown = statement.all(...parameters.map(toBindable));
      return Array.isArray(rows) ? rows : [];
    },
    close() {
      cache.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** Beyond this, SQLite keeps a whole number as a floating-point number in every column. */
const MOST_INTEGER = 2 ** 63;

/** The driver stores whole numbers that it does not give back: their rows would count as damaged. */
function toStorable(value: unknown): SQLInputValue {
  const isUnsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  if (isUnsafe && Math.abs(value) <= MOST_INTEGER)
    throw new RangeError(`the number ${value} cannot be stored, because it could not be read`);
  return toBindable(value);
}

/** Names the value that cannot be stored, which the driver's message does not. */
function toBindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a parameter of type ${typeof value} cannot be stored`);
}
