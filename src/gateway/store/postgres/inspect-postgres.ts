import pg from 'pg';
import type { Clock } from '../../../clock.ts';
import { COPY_KEY, requireWhole } from '../copying/copy-mark.ts';
import type { MigrationPlan, SchemaVersion } from '../schema/schema-version.ts';
import { readFacts, type StoreFacts } from './lease/candidate.ts';
import { MOST_LEAD_MS, readClockLead } from './lease/clock-lead.ts';
import { placeOf } from './place-of.ts';
import { messageOf } from './postgres-errors.ts';
import { rowsOf } from './rows-of.ts';
import { planFrom, readSchema, SCHEMA } from './schema/postgres-migrations.ts';

export { MOST_LEAD_MS };

export interface Inspected {
  /** What it is, for people. */
  text: string;
  /** How many files of messages the database does not have. */
  missingFiles: number;
  /** Why a daemon of this version would not start over it. */
  refusal: string | undefined;
}

/** Connects to a database and looks at it. Changes nothing. Throws an error in words, without the password. */
export const inspectPostgres = (url: string): Promise<Inspected> =>
  lookInto(url, async (client, place) => {
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
    const refusal = await whyRefused(client, place);
    const text = `PostgreSQL ${rows[0]?.version} at ${place}`;
    if (refusal !== undefined) return { text, refusal, missingFiles: 0 };
    return { text, refusal, missingFiles: await countMissing(client) };
  });

/** What a start of this version would do to the tables. Changes nothing. Throws for a database of a newer version. */
export async function plannedPostgresMigration(url: string): Promise<MigrationPlan> {
  const found = await lookInto(url, schemaIn);
  return planFrom(found, { place: placeOf(url) });
}

/** What the homes of all its daemons have in common. Throws an error in words, without the password. */
export const readStoreFacts = (url: string): Promise<StoreFacts> => lookInto(url, readFacts);

/** By how much the clock of this machine is ahead of that of the database, in milliseconds. Throws as above. */
export const readLeadOver = (url: string, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<number> =>
  lookInto(url, (client) => readClockLead(client, clock));

const schemaIn = (client: pg.Client): Promise<SchemaVersion> =>
  readSchema((sql, parameters) => rowsOf(client, sql, parameters));

async function whyRefused(client: pg.Client, place: string): Promise<string | undefined> {
  const found = await schemaIn(client);
  const sql = `select value from ${SCHEMA}.meta where key = $1`;
  const [mark] = found.version > 0 ? await rowsOf(client, sql, [COPY_KEY]) : [];
  try {
    planFrom(found, { place });
    requireWhole(place, mark && String(mark.value));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
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

/** No daemon may have used the database yet. */
async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query(`select 1 where to_regclass('${SCHEMA}.${name}') is not null`);
  return rows.length > 0;
}

async function countMissing(client: pg.Client): Promise<number> {
  if (!(await hasTable(client, 'stored_files'))) return 0;
  const { rows } = await client.query<{ missing: string }>(COUNT_MISSING);
  return Number(rows[0]?.missing);
}

const COUNT_MISSING = `select count(distinct attachment_id) as missing from ${SCHEMA}.attachments a where not exists (
  select 1 from ${SCHEMA}.stored_files f where f.file_id = a.attachment_id and f.size_bytes = a.size_bytes)`;
