import { GatewayError } from '../../../../protocol/errors.ts';
import { damaged, unavailable } from '../store-fault.ts';
import { toParameter } from './parameters.ts';
import { bigIntegers, type PostgresPool } from './postgres-connection.ts';
import { postgresFaultOf } from './postgres-errors.ts';

/** Runs a query and returns its rows. */
export type RunRead = <R>(sql: string, parameters: readonly unknown[]) => Promise<R[]>;

/** Reads on any of the connections that only read. */
export interface Reading {
  read: RunRead;
  /** Integers are bigints, as the checks of stored rows expect them. */
  readStored(sql: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

/** Callers of a failed read get an error that says what to do. */
export function createReading(pool: PostgresPool, { onDamage }: { onDamage(error: unknown): void }): Reading {
  const query = async (text: string, parameters: readonly unknown[], isStored: boolean) => {
    const values = parameters.map(toParameter);
    try {
      const { rows } = await pool.query({ text, values, ...(isStored && { types: bigIntegers }) });
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

function toReadError(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  switch (postgresFaultOf(error)) {
    case 'damaged':
      return damaged(error);
    case 'lost':
    case 'unwritable':
      return unavailable('The database cannot be read', error);
    case 'taken':
    case 'other':
      return error;
  }
}
