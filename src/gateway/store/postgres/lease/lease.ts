import type { Query } from '../pipeline.ts';
import { withNumbers } from '../placeholders.ts';
import type { PostgresClient } from '../postgres-connection.ts';
import { rowsOf } from '../rows-of.ts';
import { LEASE_MS } from './lease-tables.ts';

/** A daemon, as the others know it. */
export interface Machine {
  /** Of this process; another one after each restart. */
  process: string;
  /** Of this home; the same after a restart. */
  nodeId: string;
  version: string;
  labels: readonly string[];
  /** The address for clients; empty until it listens. */
  url(): string;
  /** The address for other daemons; undefined if they cannot reach this one. */
  address(): string | undefined;
  /** What this process proves itself with to other daemons. */
  publicKey: string;
  /** It writes only workstreams that it was given, beside the active daemon. */
  isWorker?: boolean;
  /** Why it does not work together with the others. */
  trouble?(): string | undefined;
}

/** The right to write. Its epoch rises with each change of the owner, so that a former owner is recognized. */
export interface Lease {
  name: string;
  owner: string;
  epoch: number;
}

/** Another daemon holds the lease. */
export class LeaseHeld extends Error {
  override readonly name = 'LeaseHeld';
}

/** Another daemon has taken the lease, so what this one knows is out of date. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another daemon has taken over');
  }
}

/** The lease of the active daemon: for all that a database holds, except what workers have. */
export const DAEMON_LEASE = 'daemon';

/** The lease of a worker: for its workstreams. */
export const workerLease = (nodeId: string): string => `worker ${nodeId}`;

/**
 * The first statement of each transaction that writes. It finds one row while the lease is this daemon's, and keeps every
 * other daemon from taking the lease before the end of the transaction. Renewals change no key, so they do not wait for it.
 */
export const fenceOf = ({ name, owner, epoch }: Lease): Query => ({
  name: 'fence',
  text: 'select 1 from leases where name = $3 and owner = $1 and epoch = $2 for key share',
  values: [owner, epoch, name],
});

/** Runs `work` in a transaction that holds the lease. Throws LeaseLost, with nothing written, if another daemon has it. */
export const fenced = <T>(client: PostgresClient, lease: Lease, work: () => Promise<T>): Promise<T> =>
  fencedAfter(client, lease, { before: async () => undefined, work });

/** The same; `before` comes first in the transaction. */
export async function fencedAfter<T>(
  client: PostgresClient,
  lease: Lease,
  { before, work }: { before(): Promise<unknown>; work(): Promise<T> },
): Promise<T> {
  await rowsOf(client, 'begin');
  try {
    await before();
    await requireLease(client, lease);
    const result = await work();
    await rowsOf(client, 'commit');
    return result;
  } catch (error) {
    await rowsOf(client, 'rollback').catch(() => undefined); // the first error says why
    throw error;
  }
}

/** To be called in a transaction. */
export async function requireLease(client: PostgresClient, lease: Lease): Promise<void> {
  const { rowCount } = await client.query(fenceOf(lease));
  if (rowCount !== 1) throw new LeaseLost();
}

const FREE = 'expires_at <= clock_timestamp()';

/** For the connections that only read. */
export const READ_LIVE_WORKERS = `select node_id from leases where name <> '${DAEMON_LEASE}' and not ${FREE}`;

const NEW_END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

/** What the lease says now; undefined: nobody ever held it. */
export interface LeaseState extends Omit<Lease, 'name'> {
  nodeId: string;
  isFree: boolean;
  /** Released, and not only expired. */
  isReleased: boolean;
  /** Differs after each renewal. */
  ends: string;
  sinceMs: number;
}

/** Reads the lease without waiting for anybody. */
export async function readLease(client: PostgresClient, name = DAEMON_LEASE): Promise<LeaseState | undefined> {
  const [row] = await rowsOf(
    client,
    `select owner, node_id, epoch, ${FREE} as free, expires_at = '-infinity' as released, expires_at::text as ends,
      extract(epoch from since) * 1000 as since_ms from leases where name = $1`,
    [name],
  );
  if (row === undefined) return undefined;
  return {
    owner: String(row.owner),
    nodeId: String(row.node_id),
    epoch: Number(row.epoch),
    isFree: Boolean(row.free),
    isReleased: Boolean(row.released),
    ends: String(row.ends),
    sinceMs: Math.round(Number(row.since_ms)),
  };
}

/**
 * Takes the lease, once the transactions of its owner have ended; undefined: it is another daemon's. A restarted daemon takes
 * its own at once, because its home and the lock of the database prove that the former process is over.
 */
export async function claimLease(
  client: PostgresClient,
  { process: owner, nodeId }: Pick<Machine, 'process' | 'nodeId'>,
  name = DAEMON_LEASE,
): Promise<Lease | undefined> {
  await rowsOf(client, 'begin');
  try {
    await rowsOf(client, 'select 1 from leases where name = $1 for update', [name]);
    const [row] = await rowsOf(client, CLAIM, [owner, nodeId, name]);
    await rowsOf(client, 'commit');
    return row && { name, owner, epoch: Number(row.epoch) };
  } catch (error) {
    await rowsOf(client, 'rollback').catch(() => undefined); // the first error says why
    throw error;
  }
}

const CLAIM = `insert into leases (name, owner, node_id, epoch, pid, since, expires_at)
  values ($3, $1, $2, 1, pg_backend_pid(), clock_timestamp(), ${NEW_END})
  on conflict (name) do update set owner = excluded.owner, node_id = excluded.node_id, epoch = leases.epoch + 1, pid = excluded.pid,
    since = excluded.since, expires_at = excluded.expires_at
  where leases.${FREE} or leases.node_id = excluded.node_id
  returning epoch`;

/** A lease, and the lock that the writing connection of its owner holds. */
export interface LeaseLock {
  name: string;
  lock: number;
}

/** Ends the writing connection of an owner whose lease has ended, in case that its process or machine has stopped. */
export async function endFormerSession(client: PostgresClient, { name, lock }: LeaseLock): Promise<void> {
  await rowsOf(client, withNumbers(END_SESSION), [name, lock]);
}

/** For the name of the lease, and the lock that goes with it. */
export const END_SESSION = `select pg_terminate_backend(leases.pid::integer) from leases join pg_locks on pg_locks.pid = leases.pid
      where name = ? and ${FREE} and leases.pid <> pg_backend_pid()
      and locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
      and ((classid::bigint << 32) | objid::bigint) = ?::bigint and objsubid = 1`;

const OF_WORKERS = `name <> '${DAEMON_LEASE}'`;

/** Keeps all workers from writing until the end of this transaction; theirs have to end first. */
export async function holdWorkers(client: PostgresClient): Promise<void> {
  await rowsOf(client, `select 1 from leases where ${OF_WORKERS} order by name for update`);
}

/** Ends the leases of all workers. To be called after `holdWorkers`. */
export async function endWorkerLeases(client: PostgresClient): Promise<void> {
  await rowsOf(
    client,
    `update leases set epoch = epoch + 1, owner = '', expires_at = '-infinity' where ${OF_WORKERS} and owner <> ''`,
  );
}

const OWN = 'owner = $1 and epoch = $2 and name = $3';

/** Whether the lease was still this daemon's. An expired one is renewed, too: nobody else has written. */
export async function renewLease(client: PostgresClient, { owner, epoch, name }: Lease): Promise<boolean> {
  const { rowCount } = await client.query(`update leases set expires_at = ${NEW_END} where ${OWN}`, [
    owner,
    epoch,
    name,
  ]);
  return rowCount === 1;
}

/** Another connection writes from now on. */
export async function moveLease(client: PostgresClient, { owner, epoch, name }: Lease): Promise<void> {
  await rowsOf(client, `update leases set pid = pg_backend_pid() where ${OWN}`, [owner, epoch, name]);
}

/** Lets another daemon take the lease at once. */
export async function releaseLease(client: PostgresClient, { owner, epoch, name }: Lease): Promise<void> {
  await rowsOf(client, `update leases set expires_at = '-infinity' where ${OWN}`, [owner, epoch, name]);
}

/** The same, but this connection goes on: nobody ends it to take the lease. */
export async function leaveLease(client: PostgresClient, { owner, epoch, name }: Lease): Promise<void> {
  await rowsOf(client, `update leases set expires_at = '-infinity', pid = 0 where ${OWN}`, [owner, epoch, name]);
}
