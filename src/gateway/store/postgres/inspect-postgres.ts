import pg from 'pg';
import { MIGRATIONS } from '../schema/migrations.ts';
import { placeOf } from './place-of.ts';
import { messageOf } from './postgres-errors.ts';
import { SCHEMA } from './schema/postgres-migrations.ts';

export interface Inspected {
  /** What it is, for people. */
  text: string;
  /** How many files of messages the database does not have. */
  missingFiles: number;
}

/** Connects to a database and looks at it. Changes nothing. Throws an error in words, without the password. */
export const inspectPostgres = (url: string): Promise<Inspected> =>
  lookInto(url, async (client, place) => {
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
    return { text: `PostgreSQL ${rows[0]?.version} at ${place}`, missingFiles: await countMissing(client) };
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

async function countMissing(client: pg.Client): Promise<number> {
  const { rows: tables } = await client.query(`select 1 where to_regclass('${SCHEMA}.stored_files') is not null`);
  if (tables.length === 0) return 0; // no daemon has used it yet
  const { rows } = await client.query<{ missing: string }>(COUNT_MISSING);
  return Number(rows[0]?.missing);
}

const COUNT_MISSING = `select count(distinct attachment_id) as missing from ${SCHEMA}.attachments a where not exists (
  select 1 from ${SCHEMA}.stored_files f where f.file_id = a.attachment_id and f.size_bytes = a.size_bytes)`;
