import type { Log } from '../../../../log.ts';
import { MIGRATIONS, type Migration, NEWER_SCHEMA } from '../../schema/migrations.ts';
import {
  type MigrationPlan,
  planMigration,
  type SchemaVersion,
  toSchemaVersion,
  versionAfter,
} from '../../schema/schema-version.ts';
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
  /** Called in the transaction, before tables change. `isBreaking`: only this version and later ones can use them then. */
  onChanging?(how: { isBreaking: boolean }): Promise<void>;
}

/**
 * Brings a database to the newest schema, in one transaction. Daemons that start together wait for each other. Throws without
 * changes when only a newer Headgate can use the database, or when it was made with other migrations.
 */
export async function migratePostgres(
  run: RunSql,
  { place, log, migrations = MIGRATIONS, onBegun, onChanging }: MigrateOptions,
): Promise<void> {
  await run('begin');
  try {
    await onBegun?.();
    await run(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const { from, to } = await bringUp(run, { place, migrations, ...(onChanging && { onChanging }) });
    await run('commit');
    if (from !== to) log.info({ from, to }, 'the database has a new schema');
    else if (to > versionAfter(migrations).version) log.info({ version: to }, NEWER_SCHEMA);
  } catch (error) {
    await run('rollback').catch(() => undefined); // the connection may be gone, and the first error says why
    throw error;
  }
}

/** What a start of this version would do. Changes nothing. Throws if only a newer Headgate can use the database. */
export const plannedMigration = async (run: RunSql, known: Planned): Promise<MigrationPlan> =>
  planFrom(await readSchema(run), known);

type Planned = Pick<MigrateOptions, 'place' | 'migrations'>;

/** The schema of a database, which is version 0 while no daemon has used it. */
export async function readSchema(run: RunSql): Promise<SchemaVersion> {
  const [there] = await run(`select to_regclass('${SCHEMA}.schema_migrations') is not null as there`);
  const [newest] = there?.there ? await run(FIND_NEWEST) : [];
  return toSchemaVersion(newest);
}

/** What is to be done with a database that has this schema. Throws if only a newer Headgate can use it. */
export const planFrom = (found: SchemaVersion, { place, migrations = MIGRATIONS }: Planned): MigrationPlan =>
  planMigration(found, versionAfter(migrations), { place, advice: ADVICE });

/** The table has the second column only after an additive migration. */
const FIND_NEWEST = `select version, to_jsonb(made) ->> 'usable_from' as "usableFrom" from ${SCHEMA}.schema_migrations made
  order by version desc limit 1`;
const ADVICE = 'Start the newer Headgate that wrote it, or use another database.';

type Known = Required<Pick<MigrateOptions, 'place' | 'migrations'>> & Pick<MigrateOptions, 'onChanging'>;

async function bringUp(run: RunSql, known: Known): Promise<MigrationPlan> {
  const { migrations } = known;
  await createSchema(run);
  const plan = await plannedMigration(run, known);
  const { from: found, to: newest } = plan;
  await requireSame(run, known);
  if (found > versionAfter(migrations).version) return plan; // the functions are the newer ones, too
  await defineFunctions(run, found === 0);
  if (found === newest) return plan;
  if (found > 0) await known.onChanging?.({ isBreaking: plan.usableFrom > found });
  for (const migration of migrations) {
    if (migration.version <= found) continue;
    for (const statement of translated(migration, { isFirst: found === 0 })) await run(statement);
  }
  await run('alter table schema_migrations add column if not exists usable_from bigint');
  await run('insert into schema_migrations (version, checksum, usable_from) values ($1, $2, $3)', [
    String(newest),
    checksumOf(migrations, newest),
    String(plan.usableFrom),
  ]);
  await run(SET_META, ['schema_version', String(newest)]);
  await run(SET_META, [FUNCTIONS_KEY, FUNCTIONS_DIGEST]);
  return plan;
}

async function createSchema(run: RunSql): Promise<void> {
  const [there] = await run(`select 1 as there where to_regnamespace('${SCHEMA}') is not null`);
  if (!there) await run(`create schema ${SCHEMA}`);
  await run(CREATE_TABLE);
}

/** Throws for a database whose tables were made by other migrations than those that this Headgate knows. */
async function requireSame(run: RunSql, { place, migrations }: Known): Promise<void> {
  const own = versionAfter(migrations).version;
  const applied = await run('select version, checksum from schema_migrations where version <= $1', [String(own)]);
  const other = applied.find(({ version, checksum }) => checksum !== checksumOf(migrations, Number(version)));
  if (other === undefined) return;
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
