import { copyFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../gateway/store/sqlite-store.ts';

/** Opens the stores of unit tests. */
export interface StoreEngine {
  isSqlite: boolean;
  /** Opens the database of this path, which is made if there is none. */
  open(options: SqliteStoreOptions): Promise<SqliteStore>;
  /** Copies a closed, empty database to another path. */
  copyEmpty(from: string, to: string): Promise<void>;
  /** Removes a closed database. */
  remove(path: string): Promise<void>;
}

const sqlite: StoreEngine = {
  isSqlite: true,
  open: openSqliteStore,
  copyEmpty: (from, to) => copyFile(from, to),
  remove: async () => undefined, // with its folder
};

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
