import { toParameter } from './parameters.ts';
import { withNumbers } from './placeholders.ts';
import type { PostgresClient } from './postgres-connection.ts';

/** A statement as the driver takes it. */
export interface Query {
  text: string;
  values?: unknown[];
  /** The server keeps the plan of a statement with a name. */
  name?: string;
}

/** What became of one statement. */
export type Sent =
  | { kind: 'done'; changed: number; rows: Record<string, unknown>[] }
  | { kind: 'failed'; error: Error };

/** Throws a TypeError for a parameter that cannot be stored. */
export function toQuery({ sql, parameters }: { sql: string; parameters: readonly unknown[] }): Query {
  const text = withNumbers(sql);
  return { ...nameOf(text), text, values: parameters.map(toParameter) };
}

/** Sends all of them without waiting for results, and returns what became of each. */
export async function sendAll(client: PostgresClient, queries: readonly Query[]): Promise<Sent[]> {
  const results = await Promise.allSettled(queries.map((query) => client.query<Record<string, unknown>>(query)));
  return results.map((result): Sent => {
    if (result.status === 'fulfilled')
      return { kind: 'done', changed: result.value.rowCount ?? 0, rows: result.value.rows };
    const { reason } = result;
    return { kind: 'failed', error: reason instanceof Error ? reason : new Error(String(reason)) };
  });
}

/** Limits what the server keeps: most statements have one of few texts, but lists of values have many lengths. */
const MAX_NAMES = 300;
const names = new Map<string, string>();

function nameOf(text: string): { name?: string } {
  let name = names.get(text);
  if (name === undefined && names.size < MAX_NAMES) {
    name = `s${names.size}`;
    names.set(text, name);
  }
  return name === undefined ? {} : { name };
}
