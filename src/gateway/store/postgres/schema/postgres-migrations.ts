import type { Log } from '../../../../log.ts';
import { MIGRATIONS, type Migration } from '../../schema/migrations.ts';
import { CHECKSUM_FUNCTIONS, digestOf } from './checksum-functions.ts';
import { FUNCTIONS } from './functions.ts';
import { translated } from './translation.ts';

/** The schema of the database in which everything is; connections search no other one. */
export const SCHEMA = 'headgate';

/** Runs SQL on the connection that migrates; several statements at once only without parameters. */
export type RunSql = (sql: string, parameters?: readonly string[]) => Promise<Record<string, unknown>[]>;

interface MigrateOptions {
  /** Names the database in messages, without secrets. */
  place: string;
  log: Log;
  migrations?: readonly Migration[];
  /** Called in the transaction; throws if this daemon may not migrate. */
  onBegun?(): Promise<void>;
}

/**
 * Brings a database to the newest schema, in one transaction. Daemons that start together wait for each other. Throws without
 * changes when the database was written by a newer Headgate, or with other migrations.
 */
export async function migratePostgres(
  run: RunSql,
  { place, log, migrations = MIGRATIONS, onBegun }: MigrateOptions,
): Promise<void> {
  await run('begin');
  try {
    await onBegun?.();
    await run(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const { found, newest } = await bringUp(run, { place, migrations });
    await run('commit');
    if (found !== newest) log.info({ from: found, to: newest }, 'the database has a new schema');
  } catch (error) {
    await run('rollback').catch(() => undefined); // the connection may be gone, and the first error says why
    throw error;
  }
}

/** Throws if the database was written by a newer Headgate. Changes nothing. */
export async function requireKnownSchema(run: RunSql, place: string): Promise<void> {
  const [there] = await run(`select to_regclass('${SCHEMA}.schema_migrations') is not null as there`);
  if (!there?.there) return;
  const [applied] = await run('select max(version) as version from schema_migrations');
  requireKnown(Number(applied?.version ?? 0), { place, migrations: MIGRATIONS });
}

function requireKnown(found: number, { place, migrations }: Known): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (found <= newest) return;
  throw new Error(
    `${place} has schema version ${found}, but this Headgate knows versions up to ${newest}. ` +
      'Start the newer Headgate that wrote it, or use another database.',
  );
}

type Known = Required<Pick<MigrateOptions, 'place' | 'migrations'>>;

async function bringUp(run: RunSql, known: Known): Promise<{ found: number; newest: number }> {
  const { migrations } = known;
  const newest = migrations.at(-1)?.version ?? 0;
  const found = await versionOf(run, known);
  await defineFunctions(run, found === 0);
  if (found === newest) return { found, newest };
  for (const migration of migrations) {
    if (migration.version <= found) continue;
    for (const statement of translated(migration, { isFirst: found === 0 })) await run(statement);
  }
  await run('insert into schema_migrations values ($1, $2)', [String(newest), checksumOf(migrations, newest)]);
  await run(SET_META, ['schema_version', String(newest)]);
  await run(SET_META, [FUNCTIONS_KEY, FUNCTIONS_DIGEST]);
  return { found, newest };
}

/** 0 for a database without tables. */
async function versionOf(run: RunSql, { place, migrations }: Known): Promise<number> {
  const [there] = await run(`select 1 as there where to_regnamespace('${SCHEMA}') is not null`);
  if (!there) await run(`create schema ${SCHEMA}`);
  await run(CREATE_TABLE);
  const applied = await run('select version, checksum from schema_migrations order by version');
  const found = Number(applied.at(-1)?.version ?? 0);
  requireKnown(found, { place, migrations });
  const other = applied.find(({ version, checksum }) => checksum !== checksumOf(migrations, Number(version)));
  if (other === undefined) return found;
  throw new Error(
    `${place} came to schema version ${Number(other.version)} with other migrations. Start the Headgate that made it, or use another database.`,
  );
}

async function defineFunctions(run: RunSql, isNew: boolean): Promise<void> {
  if (!isNew) {
    const [defined] = await run('select value from meta where key = $1', [FUNCTIONS_KEY]);
    if (defined?.value === FUNCTIONS_DIGEST) return;
    await run(SET_META, [FUNCTIONS_KEY, FUNCTIONS_DIGEST]);
  }
  await run(FUNCTIONS + CHECKSUM_FUNCTIONS);
}

/** Of all migrations up to this version, in the words of SQLite, because their translation may change. */
function checksumOf(migrations: readonly Migration[], version: number): string {
  const before = migrations.filter((migration) => migration.version <= version);
  return digestOf(JSON.stringify(before.map(({ statements }) => statements)));
}

/** Any number that no other program uses for a lock of this database. */
export const MIGRATION_LOCK = 5_743_211_801;
const FUNCTIONS_KEY = 'postgres_functions';
const FUNCTIONS_DIGEST = digestOf(FUNCTIONS + CHECKSUM_FUNCTIONS);
const CREATE_TABLE = `create table if not exists schema_migrations (
  version bigint not null primary key, checksum text not null, applied_at timestamptz not null default now()
)`;
const SET_META = `insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value`;
