import type { PostgresClient } from './postgres-connection.ts';

/** Runs SQL, several statements at once only without values, and returns the rows. */
export async function rowsOf(
  client: PostgresClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const result = await (values.length === 0 ? client.query(text) : client.query(text, [...values]));
  return result.rows ?? []; // several statements at once have a list of results
}
