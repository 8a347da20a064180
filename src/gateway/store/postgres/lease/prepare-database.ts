import { nanoid } from 'nanoid';
import type { Log } from '../../../../log.ts';
import { COPY_KEY, requireWhole } from '../../copying/copy-mark.ts';
import { WORKERS_FROM } from '../../schema/list-schema.ts';
import type { PostgresClient } from '../postgres-connection.ts';
import { rowsOf } from '../rows-of.ts';
import { MIGRATION_LOCK, migratePostgres, plannedMigration, type RunSql } from '../schema/postgres-migrations.ts';
import {
  DAEMON_LEASE,
  endWorkerLeases,
  fenced,
  fencedAfter,
  holdWorkers,
  type Lease,
  type Machine,
  requireLease,
} from './lease.ts';

/** What the database knows about itself and the daemon before. */
export interface Claimed {
  epoch: string;
  lastAliveMs: number | undefined;
}

/** Under the lease: a daemon of another version must not find tables that it does not know. */
export async function prepareDatabase(
  client: PostgresClient,
  { place, machine, log }: { place: string; machine: Machine; log: Log },
  lease: Lease,
): Promise<Claimed> {
  const run: RunSql = (sql, parameters) => rowsOf(client, sql, parameters);
  if (!machine.isWorker)
    await migratePostgres(run, {
      place,
      log,
      onBegun: () => requireLease(client, lease),
      // Otherwise the locks of tables and those of workers' transactions could wait for each other.
      async onChanging({ isBreaking }) {
        await holdWorkers(client);
        if (isBreaking) await endWorkerLeases(client);
      },
    });
  const work = async () => {
    if (machine.isWorker) await useTables(client, { place, run });
    const [copy] = await rowsOf(client, 'select value from meta where key = $1', [COPY_KEY]);
    requireWhole(place, copy && String(copy.value));
    if (!machine.isWorker) await claim(client, machine.process);
    return readClaimed(client, lease);
  };
  if (!machine.isWorker) return fenced(client, lease, work);
  return fencedAfter(client, lease, { before: () => rowsOf(client, NO_MIGRATION), work });
}

/** Waits for a migration, which ends the leases that it finds, and keeps others waiting. */
const NO_MIGRATION = `select pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`;

async function useTables(client: PostgresClient, { place, run }: { place: string; run: RunSql }): Promise<void> {
  const { from, to } = await plannedMigration(run, { place });
  if (from !== to) throw new OlderSchema(place);
  await rowsOf(client, CLOSE_WAY_BACK);
}

/** Versions before workers would run the workstreams that a worker has. */
const CLOSE_WAY_BACK = `update schema_migrations set usable_from = greatest(usable_from, ${WORKERS_FROM})
  where version = (select max(version) from schema_migrations)`;

/** A worker changes no tables. */
class OlderSchema extends Error {
  override readonly name = 'OlderSchema';

  constructor(place: string) {
    super(
      `${place} has the tables of an older Headgate. Start the active daemon in this version first, then its workers.`,
    );
  }
}

/** Makes the identity of a new database, and names this process as the one that writes. */
async function claim(client: PostgresClient, owner: string): Promise<void> {
  const set = 'insert into meta (key, value) values ($1, $2) on conflict (key) do';
  await rowsOf(client, `${set} nothing`, ['epoch', nanoid(12)]);
  await rowsOf(client, `${set} update set value = excluded.value`, ['owner', owner]);
}

/** When the daemon was alive that writes under this lease, as it says itself. */
export const aliveKeyOf = ({ name }: Pick<Lease, 'name'>): string =>
  name === DAEMON_LEASE ? 'last_alive_ms' : `last_alive_ms ${name}`;

async function readClaimed(client: PostgresClient, lease: Lease): Promise<Claimed> {
  const aliveKey = aliveKeyOf(lease);
  const rows = await rowsOf(client, 'select key, value from meta where key in ($1, $2)', ['epoch', aliveKey]);
  const meta = new Map(rows.map(({ key, value }) => [key, String(value)]));
  const epoch = meta.get('epoch');
  if (epoch === undefined) throw new Error('the database has no epoch');
  const alive = meta.get(aliveKey);
  return { epoch, lastAliveMs: alive === undefined ? undefined : Number(alive) };
}
