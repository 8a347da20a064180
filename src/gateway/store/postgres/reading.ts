import type pg from 'pg';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { isAbortedWithin } from '../../../timing/is-aborted-within.ts';
import { until } from '../../../timing/until.ts';
import { damaged, unavailable } from '../store-fault.ts';
import type { DatabaseHealth } from './database-health.ts';
import { LEASE_MS } from './lease/lease-tables.ts';
import { toParameter } from './parameters.ts';
import { bigIntegers, type PostgresPool } from './postgres-connection.ts';
import { isTooManyConnections, messageOf, postgresFaultOf } from './postgres-errors.ts';

/** Runs a query and returns its rows. */
export type RunRead = <R>(sql: string, parameters: readonly unknown[]) => Promise<R[]>;

/** Reads on any of the connections that only read. */
export interface Reading {
  read: RunRead;
  /** Integers are bigints, as the checks of stored rows expect them. */
  readStored(sql: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

interface ReadingDeps {
  clock: Pick<Clock, 'monotonic' | 'sleep'>;
  log: Log;
  onDamage(error: unknown): void;
  /** Whether a connection that was lost then may still come back in time for what waits for it. */
  isWorthWaiting(lostMs: number): boolean;
  health: Pick<DatabaseHealth, 'patience'>;
  /** Ends what waits, for good. */
  closing: AbortSignal;
}

/** How long reads share the connections that are there before more are tried. */
const FEW_MS = 10_000;

/** Callers of a failed read get an error that says what to do. */
export function createReading(pool: PostgresPool, { onDamage, ...deps }: ReadingDeps): Reading {
  const ask = askingAgain(askingWithFew(pool, deps), deps);
  const query = async (text: string, parameters: readonly unknown[], isStored: boolean) => {
    const values = parameters.map(toParameter);
    try {
      const { rows } = await ask({ text, values, ...(isStored && { types: bigIntegers }) });
      return rows;
    } catch (error) {
      if (postgresFaultOf(error) === 'damaged') onDamage(error);
      throw toReadError(error);
    }
  };
  return {
    // The caller says which rows the query returns, as with every query of kysely.
    read: (sql, parameters) => query(sql, parameters, false),
    readStored: (sql, parameters) => query(sql, parameters, true),
  };
}

type WaitingDeps = Pick<ReadingDeps, 'clock' | 'isWorthWaiting' | 'health' | 'closing'>;

type Ask = (query: pg.QueryConfig) => Promise<pg.QueryResult>;

/** Reads that lost their connection are made again, at most until what waits for the database is given up. */
function askingAgain(askOnce: Ask, { clock, isWorthWaiting, health, closing }: WaitingDeps): Ask {
  const ask = askingWhileHeard(askOnce, health);
  /** When the first of the connections was lost that were since the last answer. */
  let lostMs: number | undefined;
  return async (query) => {
    const beganMs = clock.monotonic();
    const onFailure = async (error: unknown): Promise<pg.QueryResult> => {
      if (postgresFaultOf(error) !== 'lost') throw error;
      lostMs ??= clock.monotonic();
      if (!isWorthWaiting(Math.min(beganMs, lostMs))) throw error;
      if (await isAbortedWithin(clock, RETRY_MS, closing)) throw error;
      return ask(query).catch(onFailure);
    };
    const result = await ask(query).catch(onFailure);
    lostMs = undefined;
    return result;
  };
}

const RETRY_MS = 100;

/** A server that is silent may never answer: nothing waits for it longer than for a lost connection, and then only for a moment. */
const askingWhileHeard =
  (ask: Ask, health: ReadingDeps['health']): Ask =>
  (query) =>
    health.patience.aborted ? ask(limited(query)) : until(ask(query), health.patience);

/** The types of the driver leave this setting out. */
const limited = (query: pg.QueryConfig): pg.QueryConfig & { query_timeout: number } => ({
  ...query,
  query_timeout: LEASE_MS,
});

/** Where the server allows fewer connections than the pool may have, its queries wait for those that it has. */
function askingWithFew(pool: PostgresPool, { clock, log }: Pick<ReadingDeps, 'clock' | 'log'>): Ask {
  const most = pool.options.max;
  let fewUntilMs = 0;
  const lower = (reason: string): void => {
    if (pool.options.max === most) log.warn({ reason }, 'reads share fewer connections');
    pool.options.max = Math.min(pool.options.max, pool.totalCount);
    fewUntilMs = clock.monotonic() + FEW_MS;
  };
  const ask: Ask = async (query) => {
    if (clock.monotonic() >= fewUntilMs) pool.options.max = most;
    return pool.query(query).catch((error: unknown) => {
      if (!isTooManyConnections(error) || pool.totalCount === 0) throw error;
      lower(messageOf(error));
      return ask(query);
    });
  };
  return ask;
}

function toReadError(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  switch (postgresFaultOf(error)) {
    case 'damaged':
      return damaged(error);
    case 'lost':
    case 'unwritable':
      return unavailable(`The database cannot be read: ${messageOf(error)}`, error);
    case 'taken':
    case 'other':
      return error;
  }
}
