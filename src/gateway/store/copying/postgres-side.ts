import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { lockDatabase } from '../postgres/lease/database-lock.ts';
import { createLeaseTables } from '../postgres/lease/lease-tables.ts';
import { placeOf } from '../postgres/place-of.ts';
import { type PostgresClient, writingClient } from '../postgres/postgres-connection.ts';
import { messageOf } from '../postgres/postgres-errors.ts';
import { rowsOf } from '../postgres/rows-of.ts';
import { migratePostgres, SCHEMA } from '../postgres/schema/postgres-migrations.ts';
import { requireUsable } from '../postgres/writing-session.ts';
import type { CopiedColumn, CopiedTable } from './copied-tables.ts';
import {
  type Cell,
  type Cells,
  CopyRefused,
  type CopySide,
  columnList,
  keyList,
  MAX_BYTES,
  MAX_ROWS,
  quoted,
} from './copy-side.ts';
import { filesOfDatabase } from './database-files.ts';
import { requireVersion } from './sqlite-side.ts';

interface PostgresSideOptions {
  url: string;
  /** Whether tables are created in an empty database. */
  isTarget: boolean;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

/** A database of which this process is the only user. Throws without changes if it cannot be used. */
export async function openPostgresSide(options: PostgresSideOptions): Promise<CopySide> {
  const { url, isTarget, clock, log, signal } = options;
  const place = placeOf(url);
  const client = writingClient(url, STATEMENT_MS);
  client.on('error', (err) => log.debug({ err }, 'the connection to the database ended')); // the next query fails
  try {
    await client.connect().catch((error: unknown) => {
      throw new CopyRefused(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
    });
    await requireUsable(client, place);
    const version = await versionOf(client);
    if (version > 0) requireVersion(place, version);
    else if (!isTarget) throw new CopyRefused(`There is no store in ${place}.`);
    await createLeaseTables(client);
    await lockDatabase(client, { place, clock, signal });
    if (version === 0) await migratePostgres((sql, parameters) => rowsOf(client, sql, parameters), { place, log });
    const meta = await readMeta(client);
    const state = `${meta.get('owner') ?? ''} ${meta.get('last_alive_ms') ?? ''}`;
    return sideOver(client, { place, state, clock });
  } catch (error) {
    await end(client);
    throw error;
  }
}

/** Counting and verifying large tables takes longer than what a daemon does. */
const STATEMENT_MS = 600_000;

const end = (client: PostgresClient): Promise<void> => client.end().catch(() => undefined); // it is gone already

async function versionOf(client: PostgresClient): Promise<number> {
  const [there] = await rowsOf(client, `select to_regclass('${SCHEMA}.meta') is not null as there`);
  return there?.there ? Number((await readMeta(client)).get('schema_version') ?? 0) : 0;
}

async function readMeta(client: PostgresClient): Promise<Map<string, string>> {
  const rows = await rowsOf(client, 'select key, value from meta');
  return new Map(rows.map(({ key, value }) => [String(key), String(value)]));
}

interface Opened extends Pick<CopySide, 'place' | 'state'> {
  clock: Clock;
}

function sideOver(client: PostgresClient, { place, state, clock }: Opened): CopySide {
  return {
    place,
    state,
    files: filesOfDatabase(client, clock),
    meta: () => readMeta(client),
    changeMeta: (values) => changeMeta(client, values),
    async count({ name }) {
      const [row] = await rowsOf(client, `select count(*) as n from ${quoted(name)}`);
      return Number(row?.n);
    },
    async read(table, after) {
      const rows = await cellsOf(client, readSql(table, after !== undefined), after ?? []);
      return { rows: rows.map((row) => row.map((cell, at) => toCell(cell, table.columns[at]))), damaged: 0 };
    },
    async lastKey(table) {
      const order = table.columns.slice(0, table.keyLength).map(({ name }) => `${quoted(name)} desc`);
      const sql = `select ${keyList(table)} from ${quoted(table.name)} order by ${order.join(', ')} limit 1`;
      return (await cellsOf(client, sql, []))[0];
    },
    async insert(table, rows) {
      const lists = table.columns.map((_, at) => rows.map((row) => row[at] ?? null));
      await client.query({ text: insertSql(table), values: lists });
    },
    async clear(tables) {
      await rowsOf(
        client,
        `truncate stored_files, stored_pieces, ${tables.map(({ name }) => quoted(name)).join(', ')}`,
      );
    },
    async finish(tables) {
      for (const table of tables) if (isNumbered(table)) await rowsOf(client, continueSql(table));
      await rowsOf(client, 'analyze');
    },
    close: () => end(client),
  };
}

async function changeMeta(client: PostgresClient, values: ReadonlyMap<string, string | undefined>): Promise<void> {
  const set = [...values].filter(([, value]) => value !== undefined);
  const removed = [...values].filter(([, value]) => value === undefined).map(([key]) => key);
  await rowsOf(client, CHANGE_META, [removed, set.map(([key]) => key), set.map(([, value]) => value)]);
}

const CHANGE_META = `with removed as (delete from meta where key = any($1::text[]))
  insert into meta (key, value) select * from unnest($2::text[], $3::text[])
  on conflict (key) do update set value = excluded.value`;

/** Every value as the server writes it. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

async function cellsOf(client: PostgresClient, text: string, values: Cells): Promise<Cell[][]> {
  const { rows } = await client.query<Cell[]>({ text, values: [...values], rowMode: 'array', types: AS_TEXT });
  return rows;
}

/** The two databases write numbers with a fraction in different ways. */
const toCell = (cell: Cell, column: CopiedColumn | undefined): Cell =>
  cell !== null && column?.kind === 'real' ? String(Number(cell)) : cell;

const TYPES = { text: 'text', integer: 'bigint', real: 'double precision' } as const;

/** The server leaves out the rows after so many bytes, so that they are not sent. */
function readSql(table: CopiedTable, hasAfter: boolean): string {
  const columns = columnList(table);
  const key = keyList(table);
  const texts = table.columns.filter(({ kind }) => kind === 'text');
  const size = texts.map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`).join(' + ') || '0';
  const given = table.columns.slice(0, table.keyLength).map(({ kind }, at) => `$${at + 1}::${TYPES[kind]}`);
  const where = hasAfter ? `where (${key}) > (${given.join(', ')})` : '';
  return `select ${columns} from (
      select *, sum(copied_bytes) over (order by ${key}) - copied_bytes as copied_before from (
        select ${columns}, ${size} as copied_bytes from ${quoted(table.name)} ${where} order by ${key} limit ${MAX_ROWS}
      ) as page
    ) as sized where copied_before < ${MAX_BYTES} order by ${key}`;
}

function insertSql(table: CopiedTable): string {
  const lists = table.columns.map(({ kind }, at) => `$${at + 1}::${TYPES[kind]}[]`);
  return `insert into ${quoted(table.name)} (${columnList(table)}) overriding system value select * from unnest(${lists.join(', ')})`;
}

/** The database numbers the rows of a table with such a key, unless a statement does. */
const isNumbered = ({ columns, keyLength }: CopiedTable): boolean => keyLength === 1 && columns[0]?.kind === 'integer';

function continueSql(table: CopiedTable): string {
  const [key] = table.columns;
  const sequence = `pg_get_serial_sequence('${SCHEMA}.${quoted(table.name)}', '${key?.name}')`;
  const next = `(select coalesce(max(${quoted(key?.name ?? '')}), 0) + 1 from ${quoted(table.name)})`;
  return `select setval(${sequence}, ${next}, false) where ${sequence} is not null`;
}
