import pg from 'pg';
import { MIGRATIONS } from '../schema/migrations.ts';
import { placeOf } from './place-of.ts';
import { messageOf } from './postgres-errors.ts';
import { SCHEMA } from './schema/postgres-migrations.ts';

/** Connects to a database and says what it is, for people. Changes nothing. Throws an error in words, without the password. */
export const inspectPostgres = (url: string): Promise<string> =>
  lookInto(url, async (client, place) => {
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
    return `PostgreSQL ${rows[0]?.version} at ${place}`;
  });

/** What a start of this version would do to the tables. Changes nothing. Throws for a database of a newer version. */
export async function plannedPostgresMigration(url: string): Promise<{ from: number; to: number }> {
  const to = MIGRATIONS.at(-1)?.version ?? 0;
  const from = await lookInto(url, async (client) => {
    const table = `${SCHEMA}.schema_migrations`;
    const { rows: there } = await client.query<{ is: boolean }>('select to_regclass($1) is not null as is', [table]);
    if (there[0]?.is !== true) return 0;
    const { rows } = await client.query<{ version: string | null }>(
      `select max(version)::text as version from ${table}`,
    );
    return Number(rows[0]?.version ?? 0);
  });
  if (from > to)
    throw new Error(`${placeOf(url)} has schema version ${from}, but this Headgate knows versions up to ${to}.`);
  return { from, to };
}

async function lookInto<T>(url: string, look: (client: pg.Client, place: string) => Promise<T>): Promise<T> {
  const place = placeOf(url);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined); // the query fails, too
  try {
    await client.connect();
    return await look(client, place);
  } catch (error) {
    throw new Error(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined); // it was never connected
  }
}
