/*
 * Loaded before test files (`node --import`), it lets the stores of unit tests be in PostgreSQL: see `npm run test:postgres`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../gateway/store/postgres/postgres-store.ts';
import type { SqliteStore, SqliteStoreOptions } from '../gateway/store/sqlite-store.ts';
import { once } from '../timing/once.ts';
import { fakeClock } from './fake-clock.ts';
import { queryPostgres, sharedPostgres } from './postgres-server.ts';
import { someMachine } from './some-machine.ts';
import { useStoreEngine } from './store-engine.ts';
import { recordingLog } from './temp-store.ts';

/** The databases in use, by the paths at which SQLite would have its files. */
const urls = new Map<string, string>();
/** Those with empty tables, which take longer to make than most tests. */
const empty: string[] = [];

const template = once(async (): Promise<string> => {
  const url = await (await sharedPostgres()).createDatabase();
  const store = await openPostgresStore({ url, machine: someMachine(), clock: fakeClock(1_000), log: recordingLog() });
  await store.close();
  return url;
});

const takeEmpty = async (): Promise<string> => {
  const server = await sharedPostgres();
  return empty.pop() ?? server.createDatabase(await template());
};

async function databaseAt(path: string): Promise<string> {
  const url = urls.get(path) ?? (await takeEmpty());
  urls.set(path, url);
  return url;
}

/** Everything but the schema. */
const EMPTY_TABLES = `do $$
  declare
    name text;
  begin
    set local search_path = headgate;
    for name in select tablename from pg_tables where schemaname = 'headgate' and tablename not in ('meta', 'schema_migrations')
    loop
      execute format('delete from %I', name);
    end loop;
    delete from meta where key not in ('schema_version', 'postgres_functions');
    for name in select sequencename from pg_sequences where schemaname = 'headgate'
    loop
      perform setval(name::regclass, 1, false);
    end loop;
  end $$`;

useStoreEngine({
  isSqlite: false,
  async open({ path, clock, log }: SqliteStoreOptions): Promise<SqliteStore> {
    const url = await databaseAt(path);
    // The server notices the end of a former connection some time after it, while the clocks of tests stand still.
    const store = await openPostgresStore({
      url,
      machine: someMachine(),
      clock: { ...clock, sleep: (ms, signal) => sleep(ms, undefined, { signal }) },
      log,
    });
    return { ...store, openedAfterUncleanPowerLoss: false, setAside: undefined, readEventRows: async () => [] };
  },
  copierOf: async () => async (to) => {
    await databaseAt(to);
  },
  async remove(path) {
    const url = urls.get(path);
    if (url === undefined) return;
    urls.delete(path);
    await queryPostgres(url, EMPTY_TABLES);
    empty.push(url);
  },
});
