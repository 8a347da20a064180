import { createHash } from 'node:crypto';
import { nanoid } from 'nanoid';
import type { Clock } from '../../../../clock.ts';
import type { Statement } from '../../store.ts';
import type { PostgresClient } from '../postgres-connection.ts';
import { rowsOf } from '../rows-of.ts';
import {
  claimLease,
  DAEMON_LEASE,
  END_SESSION,
  endFormerSession,
  type Lease,
  LeaseHeld,
  type LeaseLock,
  type LeaseState,
  leaveLease,
  type Machine,
  readLease,
  workerLease,
} from './lease.ts';
import { LEASE_MS, RENEW_MS } from './lease-tables.ts';
import { findMachine } from './machines.ts';

type Claimant = Pick<Machine, 'process' | 'nodeId' | 'isWorker'>;

interface Locking {
  /** Names the database in messages, without secrets. */
  place: string;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Keeps every daemon out of the database while this connection lasts. The lease passes to nobody, so that a daemon which was only
 * cut off does not go on afterwards as if nothing had changed.
 */
export async function lockDatabase(client: PostgresClient, { place, clock, signal }: Locking): Promise<void> {
  const owner = nanoid(12);
  const machine = { process: owner, nodeId: owner };
  const lease = await takeLease(client, { place, clock, signal, machine }).catch((error: unknown) => {
    if (!(error instanceof LeaseHeld)) throw error;
    throw new LeaseHeld(`Another Headgate daemon is using ${place}. Stop it first, or use another database.`);
  });
  await leaveLease(client, lease);
}

/** A lock of the database, which the server frees when the session ends, however that happens. */
export async function tryLock(client: PostgresClient, { lock }: Pick<LeaseLock, 'lock'>): Promise<boolean> {
  const [row] = await rowsOf(client, 'select pg_try_advisory_lock($1) as locked', [lock]);
  return Boolean(row?.locked);
}

/** Any number that no other program uses for a lock of this database. */
const DAEMON_LOCK = 5_743_211_802;

/** What the active daemon holds. */
const ACTIVE: LeaseLock = { name: DAEMON_LEASE, lock: DAEMON_LOCK };

/** What a daemon holds while it writes. A worker's lock is a number made from its node id. */
export function lockOf({ nodeId, isWorker = false }: Pick<Machine, 'nodeId' | 'isWorker'>): LeaseLock {
  if (!isWorker) return ACTIVE;
  const name = workerLease(nodeId);
  return { name, lock: createHash('sha256').update(name).digest().readUIntBE(0, 6) };
}

/**
 * Takes the lease and the lock of the database. Waits until the lease of a daemon that died has ended; throws LeaseHeld when
 * another daemon renews it.
 */
export async function takeLease(
  client: PostgresClient,
  { place, clock, signal, machine }: Locking & { machine: Claimant },
): Promise<Lease> {
  let ends: string | undefined;
  for (let waitedMs = 0; waitedMs <= (ends === undefined ? LOCK_MS : LONGEST_MS); waitedMs += RETRY_MS) {
    const found = await look(client, { place, machine, ends });
    if (typeof found === 'object') return found;
    ends ??= found;
    await clock.sleep(RETRY_MS, signal);
  }
  throw new LeaseHeld(inUse(place));
}

/** The lease, if it can be taken, or when that of another daemon ends, which throws if it was renewed since `ends`. */
async function look(
  client: PostgresClient,
  { place, machine, ends }: { place: string; machine: Claimant; ends: string | undefined },
): Promise<Lease | string | undefined> {
  const found = await readLease(client, lockOf(machine).name);
  if (found === undefined || !isOfAnother(found, machine)) return tryTake(client, { place, machine });
  if (ends !== undefined && ends !== found.ends) throw await heldBy(client, found, place);
  return found.ends;
}

/** Whether another daemon has a lease that has not ended. */
export const isOfAnother = (found: LeaseState, { nodeId }: Pick<Machine, 'nodeId'>): boolean =>
  !found.isFree && found.nodeId !== nodeId;

/** Undefined: a connection of another daemon has the lock of the database. */
async function tryTake(
  client: PostgresClient,
  { place, machine }: { place: string; machine: Claimant },
): Promise<Lease | undefined> {
  const held = lockOf(machine);
  if (!(await tryLock(client, held))) {
    await endFormerSession(client, held);
    return undefined;
  }
  const lease = await claimLease(client, machine, held.name);
  if (lease) return lease;
  throw new LeaseHeld(inUse(place)); // another one was quicker
}

async function heldBy(client: PostgresClient, { owner, nodeId }: LeaseState, place: string): Promise<LeaseHeld> {
  const { url } = (await findMachine(client, owner)) ?? {};
  return new LeaseHeld(inUse(place, ` (${nodeId}${url ? ` at ${url}` : ''})`));
}

const inUse = (place: string, who = ''): string =>
  `Another Headgate daemon${who} is using ${place}. Stop it first, give this one its own database, or start this one with --standby, so that it waits and takes over.`;

/** Of a copy of a database, which has no leases. */
const NEVER_HELD = `insert into leases (name, owner, node_id, epoch, pid, since, expires_at)
  values (?, '', ?, 0, 0, clock_timestamp(), '-infinity') on conflict (name) do nothing`;

/** Ends the lease of a worker, whose transactions have to end first. Refused while the worker renews it. */
export function endLeaseOf(nodeId: string): Statement[] {
  const { name, lock } = lockOf({ nodeId, isWorker: true });
  const isOver = 'name = ? and expires_at <= clock_timestamp()';
  return [
    { sql: NEVER_HELD, parameters: [name, nodeId] },
    { sql: END_SESSION, parameters: [name, lock] },
    { sql: `select 1 from leases where ${isOver} for update`, parameters: [name], expect: 1 },
    {
      sql: `update leases set epoch = epoch + 1, owner = '', expires_at = '-infinity' where ${isOver}`,
      parameters: [name],
      expect: 1,
    },
  ];
}

/** A killed daemon's session ends a moment after it. */
const LOCK_MS = 3_000;
const RETRY_MS = 100;
/** By then a lease has ended, or was renewed. */
const LONGEST_MS = LEASE_MS + RENEW_MS + LOCK_MS;
