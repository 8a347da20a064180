import { nanoid } from 'nanoid';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { Forgotten, findMark, GroupMarks } from './group-marks.ts';
import { warnOfClock } from './lease/clock-lead.ts';
import { lockOf, takeLease, tryLock } from './lease/database-lock.ts';
import {
  DAEMON_LEASE,
  fenced,
  type Lease,
  type LeaseLock,
  LeaseLost,
  type Machine,
  moveLease,
  readLease,
  releaseLease,
} from './lease/lease.ts';
import { keepLease, type LeaseKeeper } from './lease/lease-keeper.ts';
import { createLeaseTables } from './lease/lease-tables.ts';
import type { KnownPeers } from './lease/peers.ts';
import { type Claimed, prepareDatabase } from './lease/prepare-database.ts';
import { type PostgresClient, writingClient } from './postgres-connection.ts';
import { messageOf, NotConnected, postgresFaultOf } from './postgres-errors.ts';
import { rowsOf } from './rows-of.ts';

/** The connection of this daemon that writes. It holds the lease, and the lock that no other daemon gets meanwhile. */
export interface WritingSession {
  readonly claimed: Claimed;
  readonly lease: Lease;
  /** How long ago the lease was renewed last. */
  leaseAgeMs(): number;
  /** The lease was not renewed in time, so another daemon may be active. */
  mayBeReplaced(): boolean;
  readonly peers: KnownPeers;
  readonly marks: GroupMarks;
  /** Throws while there is no connection. */
  client(): PostgresClient;
  /** Connects again, if the connection was lost, and throws if this daemon may not or cannot write. */
  restore(): Promise<void>;
  /**
   * Resolves to the mark of the last group that is stored, once this lost connection can store nothing more, also if the
   * database cannot be written then; rejects when the session is closed.
   */
  markAfter(lost: PostgresClient, error: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}

interface SessionDeps {
  url: string;
  /** Names the database in messages, without secrets. */
  place: string;
  machine: Machine;
  clock: Clock;
  log: Log;
  /** How long the server may be silent before the connection counts as lost. */
  silentMs?: number | undefined;
  /** The connection ended. */
  onLost(error: unknown): void;
  /** This daemon will not write again. */
  onOver(why: LeaseLost | Forgotten): void;
}

/** Connects, takes the lease and brings the database to the newest schema. Throws LeaseHeld if another daemon has the lease. */
export async function openWritingSession(deps: SessionDeps): Promise<WritingSession> {
  const { place, machine, clock } = deps;
  const closing = new AbortController();
  const connections = createConnections(deps, closing.signal);
  const marks = new GroupMarks();
  const first = await connections.connect();
  let lease: Lease | undefined;
  let keeper: LeaseKeeper | undefined;
  try {
    await requireUsable(first, place);
    await warnOfClock(first, deps);
    await createLeaseTables(first);
    const taken = await takeLease(first, { place, clock, signal: closing.signal, machine });
    lease = taken;
    const keeping = keepLease({
      url: deps.url,
      lease,
      machine,
      clock,
      log: deps.log,
      onTaken: () => deps.onOver(new LeaseLost()),
      onLate: connections.drop,
    });
    keeper = keeping;
    const claimed = await prepareDatabase(first, deps, taken);
    connections.become(first);
    const reconnect = reconnecting(connections, deps, { lease: taken, marks });
    return {
      claimed,
      lease: taken,
      leaseAgeMs: keeping.ageMs,
      mayBeReplaced: keeping.mayBeTaken,
      peers: keeping.peers,
      marks,
      client: connections.client,
      async restore() {
        if (connections.isThere()) return probe(connections.client(), taken, lockOf(machine));
        const client = await reconnect();
        if (closing.signal.aborted) await leave(client, taken); // or nobody would end it
        closing.signal.throwIfAborted();
        connections.become(client);
      },
      markAfter: connections.markAfter,
      async close() {
        closing.abort();
        await keeping.close();
        const client = connections.close();
        if (client) await leave(client, taken);
      },
    };
  } catch (error) {
    await keeper?.close();
    await leave(first, lease);
    if (postgresFaultOf(error) !== 'unwritable') throw error;
    throw new Error(`${place} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Ends a connection, so that another daemon can take the lease at once. */
async function leave(client: PostgresClient, lease: Lease | undefined): Promise<void> {
  if (lease) await releaseLease(client, lease).catch(() => undefined); // it ends by itself
  await endClient(client);
}

/** Keeps track of the connection that is in use. */
function createConnections({ url, place, silentMs, onLost }: SessionDeps, closing: AbortSignal) {
  let current: PostgresClient | undefined;
  let waiting = Promise.withResolvers<string | undefined>();
  const lose = (client: PostgresClient, error: unknown): void => {
    if (current !== client) return;
    current = undefined;
    client.connection.stream.destroy(); // what is under way would wait for a silent server
    void endClient(client);
    waiting = Promise.withResolvers();
    waiting.promise.catch(() => undefined); // perhaps nobody waits
    if (!closing.aborted) onLost(error);
  };
  return {
    async connect(): Promise<PostgresClient> {
      const client = writingClient(url, silentMs);
      client.on('error', (error) => lose(client, error));
      client.on('end', () => lose(client, new Error('the connection ended')));
      try {
        await client.connect();
      } catch (error) {
        void endClient(client);
        throw new Error(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
      }
      return client;
    },
    become(client: PostgresClient): void {
      current = client;
    },
    /** The lost connection has ended, and this is the mark that the database has. */
    found: (mark: string | undefined): void => waiting.resolve(mark),
    isThere: () => current !== undefined,
    client() {
      if (current === undefined) throw new NotConnected('there is no connection to the database');
      return current;
    },
    /** If the server answers others no more, perhaps nothing is ever heard of this connection. False: it answers. */
    drop(error: unknown): boolean {
      const isSilent = postgresFaultOf(error) === 'lost';
      if (current && isSilent) lose(current, error);
      return isSilent;
    },
    markAfter(client: PostgresClient, error: unknown) {
      lose(client, error); // an error of a query may come before those of its connection
      return waiting.promise;
    },
    /** Returns the last one, which the caller ends. */
    close(): PostgresClient | undefined {
      waiting.reject(new Error('the store is closed'));
      waiting.promise.catch(() => undefined); // perhaps nobody waits
      return current;
    },
  };
}

/** Connects again. After this, no transaction of the lost connection is running. */
function reconnecting(
  { connect, found }: ReturnType<typeof createConnections>,
  deps: SessionDeps,
  { lease, marks }: { lease: Lease; marks: GroupMarks },
): () => Promise<PostgresClient> {
  const { place, machine, log, onOver } = deps;
  let over: LeaseLost | Forgotten | undefined;
  const end = (why: LeaseLost | Forgotten): never => {
    over = why;
    onOver(why);
    throw why;
  };
  const take = async (client: PostgresClient): Promise<void> => {
    if (!(await isOwnLease(client, { place, lease }))) return end(new LeaseLost());
    if (!(await tryLock(client, lockOf(machine))))
      throw new Error(`an earlier connection to ${place} has not ended yet`);
    const mark = await readMark(client, lease);
    if (!marks.allIn(mark)) {
      await fenced(client, lease, () => renewEpoch(client));
      const forgotten = new Forgotten();
      log.error({ place }, forgotten.message);
      return end(forgotten);
    }
    found(mark);
    await moveLease(client, lease);
    await probe(client, lease, lockOf(machine)); // before it is used: the statements of a group would become a part of this transaction
  };
  return async () => {
    if (over) throw over;
    const client = await connect();
    try {
      await take(client);
      return client;
    } catch (error) {
      void endClient(client);
      throw error;
    }
  };
}

async function readMark(client: PostgresClient, lease: Lease): Promise<string | undefined> {
  const { text, values } = findMark(lease);
  const [found] = await rowsOf(client, text, values);
  return found && String(found.value);
}

/** What clients know of the logs holds no more. */
const renewEpoch = (client: PostgresClient): Promise<unknown> =>
  rowsOf(client, "update meta set value = $1 where key = 'epoch'", [nanoid(12)]);

const endClient = (client: PostgresClient): Promise<void> => client.end().catch(() => undefined); // it is gone already

/** The oldest version that the tests use. */
const OLDEST = 150_000;

/** Throws if Headgate cannot use this server or database. */
export async function requireUsable(client: PostgresClient, place: string): Promise<void> {
  const [row] = await rowsOf(
    client,
    `select current_setting('server_version_num')::integer as number, current_setting('server_version') as version,
      current_setting('server_encoding') as encoding`,
  );
  if (Number(row?.number) < OLDEST)
    throw new Error(`${place} is PostgreSQL ${String(row?.version)}, but Headgate needs version 15 or newer.`);
  if (row?.encoding !== 'UTF8')
    throw new Error(`${place} has the encoding ${String(row?.encoding)}. Create a database with the encoding UTF8.`);
}

/** What this daemon knows of the logs is out of date once another one has written. */
async function isOwnLease(client: PostgresClient, { place, lease }: { place: string; lease: Lease }): Promise<boolean> {
  const [there] = await rowsOf(client, "select to_regclass('leases') is not null as there");
  const found = there?.there ? await readLease(client, lease.name) : undefined;
  if (found === undefined)
    throw new Error(`${place} is not the database that this daemon was started with. Restart the daemon.`);
  return found.owner === lease.owner && found.epoch === lease.epoch;
}

/**
 * Throws when there is no room for a small group. A table of its own needs new room; in one that is there, a row could take
 * that of deleted ones. Only values of 2 kB or more are compressed.
 */
function probe(client: PostgresClient, lease: Lease, { lock }: LeaseLock): Promise<void> {
  const name = lease.name === DAEMON_LEASE ? 'probe' : `probe_${lock}`; // workers may try at the same time
  return fenced(client, lease, async () => {
    await rowsOf(client, `drop table if exists ${name}`);
    await rowsOf(client, `create table ${name} as select repeat(' ', 1000) as value from generate_series(1, 64)`);
    await rowsOf(client, `drop table ${name}`);
  });
}
