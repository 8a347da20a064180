import { sql } from 'kysely';
import type { Statement, Store } from '../store/store.ts';
import type { SealedPlace } from './sealing.ts';

/** The tables besides `secrets` that hold encrypted texts, in a column `sealed`, and the column that names their rows. */
const TABLES = [
  ['mcp_consents', 'consent_id'],
  ['mcp_consent_requests', 'state_hash'],
  ['mcp_clients', 'server'],
] as const;

interface SealedRow {
  place: SealedPlace;
  sealed: string;
  /** The statement that replaces the text. It changes nothing if the row is gone. */
  replace(sealed: string): Statement;
}

/** A table in which texts can be encrypted. */
export const placeIn = (table: (typeof TABLES)[number][0], row: string): SealedPlace => ({
  table,
  row,
  column: 'sealed',
});

/** The encrypted texts outside the table of secrets, to encrypt them anew. */
export async function sealedRows(db: Store['db']): Promise<SealedRow[]> {
  const found = await Promise.all(
    TABLES.map(async ([table, key]) => {
      const query = sql<{
        row: string;
        sealed: string;
      }>`select ${sql.ref(key)} as "row", sealed from ${sql.table(table)}`;
      const { rows } = await query.execute(db);
      return rows.map(({ row, sealed }) => ({
        place: placeIn(table, row),
        sealed,
        replace: (next: string) => ({
          sql: `update ${table} set sealed = ? where ${key} = ? and sealed = ?`,
          parameters: [next, row, sealed],
        }),
      }));
    }),
  );
  return found.flat();
}
