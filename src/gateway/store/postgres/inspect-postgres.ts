import pg from 'pg';
import { placeOf } from './place-of.ts';
import { messageOf } from './postgres-errors.ts';

/** Connects to a database and says what it is, for people. Changes nothing. Throws an error in words, without the password. */
export async function inspectPostgres(url: string): Promise<string> {
  const place = placeOf(url);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined); // the query fails, too
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
    return `PostgreSQL ${rows[0]?.version} at ${place}`;
  } catch (error) {
    throw new Error(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined); // it was never connected
  }
}
