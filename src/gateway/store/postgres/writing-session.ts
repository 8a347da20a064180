import { nanoid } from 'nanoid';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { COPY_KEY, requireWhole } from '../copying/copy-mark.ts';
import { type PostgresClient, writingClient } from './postgres-connection.ts';
import { messageOf } from './postgres-errors.ts';
import { migratePostgres } from './schema/postgres-migrations.ts';

/** What the database knows about itself and the daemon before. */
interface Claimed {
  epoch: string;
  lastAliveMs: number | undefined;
}

/** The one connection that writes. It holds the lock that no second daemon gets. */
export interface WritingSession {
  readonly claimed: Claimed;
  /** Throws while there is no connection. */
  client(): PostgresClient;
  /** Connects again, if the connection was lost, and throws if this daemon may not or cannot write. */
  restore(): Promise<void>;
  /** Resolves when the session has been restored; rejects when it is closed. */
  restored(): Promise<PostgresClient>;
  close(): Promise<void>;
}

interface SessionDeps {
  url: string;
  /** Names the database in messages, without secrets. */
  place: string;
  clock: Clock;
  log: Log;
  /** How long the server may be silent before the connection counts as lost. */
  silentMs?: number | undefined;
  /** The connection ended. */
  onLost(error: unknown): void;
}

/** Connects, claims the database for this daemon and brings it to the newest schema. */
export async function openWritingSession(deps: SessionDeps): Promise<WritingSession> {
  const { url, place, clock, log, silentMs, onLost } = deps;
  const owner = nanoid(12);
  const closing = new AbortController();
  let current: PostgresClient | undefined;
  let waiting = Promise.withResolvers<PostgresClient>();

  const connect = async (): Promise<PostgresClient> => {
    const client = writingClient(url, silentMs);
    client.on('error', (error) => lose(client, error));
    client.on('end', () => lose(client, new Error('the connection ended')));
    try {
      await client.connect();
    } catch (error) {
      void end(client);
      throw new Error(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
    }
    return client;
  };
  const lose = (client: PostgresClient, error: unknown): void => {
    if (current !== client) return;
    current = undefined;
    waiting = Promise.withResolvers();
    waiting.promise.catch(() => undefined); // perhaps nobody waits
    if (!closing.signal.aborted) onLost(error);
  };
  const become = (client: PostgresClient): void => {
    current = client;
    waiting.resolve(client);
  };

  const first = await connect();
  try {
    await requireUsable(first, place);
    await lockDatabase(first, { place, clock, signal: closing.signal });
    await migratePostgres((sql, parameters) => rowsOf(first, sql, parameters), { place, log });
    const [copy] = await rowsOf(first, 'select value from meta where key = $1', [COPY_KEY]);
    requireWhole(place, copy && String(copy.value));
    const claimed = await claim(first, owner);
    become(first);
    return {
      claimed,
      client() {
        if (current === undefined) throw new Error('there is no connection to the database');
        return current;
      },
      async restore() {
        if (current === undefined) {
          const client = await connect();
          try {
            await lock(client, { place, clock, forMs: 0, signal: closing.signal });
            await requireOwner(client, { place, owner });
          } catch (error) {
            void end(client);
            throw error;
          }
          become(client);
        }
        await probe(current ?? (await waiting.promise));
      },
      restored: () => waiting.promise,
      async close() {
        closing.abort();
        waiting.reject(new Error('the store is closed'));
        waiting.promise.catch(() => undefined); // perhaps nobody waits
        if (current) await end(current);
      },
    };
  } catch (error) {
    await end(first);
    throw error;
  }
}

const end = (client: PostgresClient): Promise<void> => client.end().catch(() => undefined); // it is gone already

async function rowsOf(
  client: PostgresClient,
  text: string,
  values: readonly string[] = [],
): Promise<Record<string, unknown>[]> {
  const result = await (values.length === 0 ? client.query(text) : client.query(text, [...values]));
  return result.rows ?? []; // several statements at once have a list of results
}

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

interface Locking {
  place: string;
  clock: Clock;
  signal: AbortSignal;
}

/** Keeps every daemon out of the database while this connection lasts. */
export const lockDatabase = (client: PostgresClient, locking: Locking): Promise<void> =>
  lock(client, { ...locking, forMs: LOCK_MS });

/** A lock of the database, which the server frees when the session ends, however that happens. */
async function lock(
  client: PostgresClient,
  { place, clock, forMs, signal }: Locking & { forMs: number },
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
    const [row] = await rowsOf(client, `select pg_try_advisory_lock(${DAEMON_LOCK}) as locked`);
    if (row?.locked) return;
    if (waitedMs >= forMs)
      throw new Error(`Another Headgate daemon is using ${place}. Stop it first, or give this one its own database.`);
    await clock.sleep(LOCK_RETRY_MS, signal);
  }
}

/** Makes the identity of a new database, and names this process as the one that writes. */
async function claim(client: PostgresClient, owner: string): Promise<Claimed> {
  const set = 'insert into meta (key, value) values ($1, $2) on conflict (key) do';
  await rowsOf(client, `${set} nothing`, ['epoch', nanoid(12)]);
  await rowsOf(client, `${set} update set value = excluded.value`, ['owner', owner]);
  const rows = await rowsOf(client, "select key, value from meta where key in ('epoch', 'last_alive_ms')");
  const meta = new Map(rows.map(({ key, value }) => [key, String(value)]));
  const epoch = meta.get('epoch');
  if (epoch === undefined) throw new Error('the database has no epoch');
  const alive = meta.get('last_alive_ms');
  return { epoch, lastAliveMs: alive === undefined ? undefined : Number(alive) };
}

/** What this daemon knows of the logs is out of date once another one has written. */
async function requireOwner(client: PostgresClient, { place, owner }: { place: string; owner: string }): Promise<void> {
  const [row] = await rowsOf(client, "select value from meta where key = 'owner'");
  if (row?.value === owner) return;
  throw new Error(
    row === undefined
      ? `${place} is not the database that this daemon was started with. Restart the daemon.`
      : `Another Headgate daemon has used ${place} meanwhile. Restart this one.`,
  );
}

/** Throws when there is no room for a small group. */
async function probe(client: PostgresClient): Promise<void> {
  await rowsOf(client, PROBE, ['probe', ' '.repeat(PROBE_BYTES)]);
  await rowsOf(client, "delete from meta where key = 'probe'");
}

const PROBE = 'insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value';
const PROBE_BYTES = 65_536;
/** Any number that no other program uses for a lock of this database. */
const DAEMON_LOCK = 5_743_211_802;
/** A killed daemon's session ends a moment after it. */
const LOCK_MS = 3_000;
const LOCK_RETRY_MS = 100;
