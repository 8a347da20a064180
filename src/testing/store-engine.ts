import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { migrate } from '../gateway/store/schema/migrations.ts';
import { openPrepared } from '../gateway/store/sqlite/damage.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../gateway/store/sqlite-store.ts';

/** Opens the stores of unit tests. */
export interface StoreEngine {
  isSqlite: boolean;
  /** Opens the database of this path, which is made if there is none. */
  open(options: SqliteStoreOptions): Promise<SqliteStore>;
  /** Reads a closed, empty database, and returns what makes copies of it. */
  copierOf(path: string): Promise<(to: string) => Promise<void>>;
  /** Removes a closed database. */
  remove(path: string): Promise<void>;
}

const sqlite: StoreEngine = {
  isSqlite: true,
  open(options) {
    if (!existsSync(options.path)) writeFileSync(options.path, schemaFile(), { mode: 0o600 });
    return openSqliteStore(options);
  },
  async copierOf(path) {
    const bytes = await readFile(path);
    return (to) => writeFile(to, bytes);
  },
  remove: async () => undefined, // with its folder
};

/** The bytes of a database with the newest schema and no rows: copying it is quicker than making the schema for each test. */
function schemaFile(): Buffer {
  if (schema) return schema;
  const folder = mkdtempSync(path.join(tmpdir(), 'headgate-schema-'));
  const file = path.join(folder, 'headgate.db');
  openPrepared(file, (connection) => migrate(connection, { path: file, log: silent })).connection.close();
  schema = readFileSync(file);
  rmSync(folder, { recursive: true });
  return schema;
}

let schema: Buffer | undefined;

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let current = sqlite;

/** SQLite, unless the tests of this process run over another database. */
export const storeEngine = (): StoreEngine => current;

/** Runs the tests of this process over another database. */
export function useStoreEngine(engine: StoreEngine): void {
  current = engine;
}

/** A test that looks into the files or the plans of SQLite; over another database, it does not exist. */
export const sqliteTest = (title: string, run: () => Promise<void> | void): void => {
  if (current.isSqlite) void test(title, run);
};
