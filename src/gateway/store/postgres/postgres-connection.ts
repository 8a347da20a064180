import pg from 'pg';
import type { Log } from '../../../log.ts';
import { SCHEMA } from './schema/postgres-migrations.ts';

/** A connection that sends statements without waiting for the results of those before. */
export type PostgresClient = pg.Client;

/** Connections for reading, which the server refuses to use for anything else. */
export interface PostgresPool extends pg.Pool {
  /** Ends the connections that there are: what is under way on them fails as lost, and would wait for a silent server otherwise. */
  lose(): void;
}

/** Opens the connection that writes; the caller connects it. A server that is silent for so long counts as lost. */
export const writingClient = (url: string, silentMs = SILENT_MS): PostgresClient =>
  new pg.Client({ ...configOf(url, WRITING), pipeline: true, keepAlive: true, query_timeout: silentMs });

/** How many reads run at once; others wait. */
const MAX_READERS = 8;

/** Connections that fail are replaced by the next read. */
export function readingPool(url: string, log: Log): PostgresPool {
  const pool = new pg.Pool({ ...configOf(url, READING), max: MAX_READERS, keepAlive: true, query_timeout: SILENT_MS });
  pool.on('error', (err) => log.debug({ err }, 'an idle connection to the database ended'));
  const clients = new Set<pg.PoolClient>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  const lose = (): void => {
    for (const { connection } of clients) connection.stream.destroy();
  };
  return Object.assign(pool, { lose });
}

/** How long a statement may take. */
const SILENT_MS = 60_000;
/** How long a connection may take, so that a server that does not answer is noticed. */
const CONNECT_MS = 10_000;

/** A machine that disappears without a word keeps neither its connections nor its locks. */
const KEEPALIVE = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
/** It holds the lock of the database, so it stays while nobody writes, whatever the server does to others. */
const WRITING = {
  ...KEEPALIVE,
  synchronous_commit: 'on',
  idle_in_transaction_session_timeout: 60_000,
  idle_session_timeout: 0,
};
const READING = { ...KEEPALIVE, default_transaction_read_only: 'on', statement_timeout: SILENT_MS };

function configOf(url: string, settings: Record<string, string | number>): pg.ClientConfig {
  const all = { search_path: SCHEMA, application_name: 'headgate', ...settings };
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
  const address = new URL(url);
  const given = address.searchParams.get('options');
  address.searchParams.set('options', [...(given === null ? [] : [given]), ...options].join(' '));
  return { connectionString: address.href, connectionTimeoutMillis: CONNECT_MS, types: numbersAsInSqlite };
}

type Parser = (text: string) => unknown;

const PARSERS = new Map<number, Parser>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number], // sums of integers
  [pg.types.builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
]);

/** Queries return what SQLite returns: numbers, and 1 or 0 for conditions. */
const numbersAsInSqlite = parsersOf(PARSERS);

/** Like `numbersAsInSqlite`, but integers are bigints, as `CheckedRows` needs them. */
export const bigIntegers = parsersOf(new Map([...PARSERS, [pg.types.builtins.INT8, BigInt]]));

function parsersOf(parsers: ReadonlyMap<number, Parser>): pg.CustomTypesConfig {
  return {
    getTypeParser: (oid: number, format?: 'text' | 'binary') => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
  };
}
