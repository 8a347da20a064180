import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { withNumbers } from './placeholders.ts';
import type { RunRead } from './reading.ts';

/** kysely over the connections that read. A query takes one of them only while it runs. */
export const postgresDialect = (read: RunRead): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new ReadingDriver(read),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

class ReadingDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(read: RunRead) {
    this.#connection = {
      executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
        rows: await read<R>(withNumbers(sql), parameters),
      }),
      streamQuery() {
        throw new Error('read page by page instead of streaming');
      },
    };
  }

  async init(): Promise<void> {
    // the connections are opened when they are needed
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    // each query has released its own
  }

  beginTransaction = refuse;
  commitTransaction = refuse;
  rollbackTransaction = refuse;

  async destroy(): Promise<void> {
    // the store closes the connections
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("the store's db only reads; commit a unit instead of a transaction"));
}
