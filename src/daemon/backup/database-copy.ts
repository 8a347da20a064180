import { closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { wordsOf } from '../../../protocol/words-of.ts';
import { schemaOf } from '../../gateway/store/schema/migrations.ts';
import type { SchemaVersion } from '../../gateway/store/schema/schema-version.ts';
import { requireWholeFile } from '../../gateway/store/store-identity.ts';

/** All of them at once: if another process writes between two batches, SQLite begins again. */
const ALL_PAGES = 2 ** 31 - 1;

/** Copies a database as it is at one moment, while a daemon may be writing to it. */
export async function copyOnline(from: string, to: string): Promise<void> {
  closeSync(openSync(to, 'wx', 0o600));
  using database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  await backup(database, to, { rate: ALL_PAGES });
}

export interface DatabaseFacts {
  schema: SchemaVersion;
  /** The key of the machine that its secrets need; undefined if it has none. */
  machineKeyId: string | undefined;
  /** No daemon was using it. */
  isClosed: boolean;
}

/** Checks a copy that nobody has open. Throws an Error that says what is wrong. */
export function inspectCopy(file: string): DatabaseFacts {
  const url = pathToFileURL(file);
  url.search = 'immutable=1'; // no lock, and no files next to it
  using database = new DatabaseSync(url, { readOnly: true });
  const check = said(() => String(database.prepare('pragma quick_check(1)').get()?.quick_check));
  if (check !== 'ok') throw new Error(`the database is damaged: ${check}`);
  const all = (sql: string, parameters: readonly string[] = []) => database.prepare(sql).all(...parameters);
  const schema = schemaOf(all);
  if (!(schema.version > 0)) throw new Error('the database is not one of Headgate');
  requireWholeFile({ all }, 'the database'); // half of the conversations are no backup
  const key = hasTable(database, 'store_keys')
    ? database.prepare('select machine_id from store_keys').get()
    : undefined;
  return {
    schema,
    machineKeyId: key === undefined ? undefined : String(key.machine_id),
    isClosed: all("select 1 from meta where key = 'clean_stop' and value = '1'").length > 0,
  };
}

function said(ask: () => string): string {
  try {
    return ask();
  } catch (error) {
    return wordsOf(error);
  }
}

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined;

/** Removes the name of the database, so that clients reload instead of continuing from positions that no longer exist. */
export function forgetEpoch(file: string): void {
  using database = new DatabaseSync(file);
  database.exec("delete from meta where key = 'epoch'");
}
