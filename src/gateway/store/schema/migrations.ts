import type { Log } from '../../../log.ts';
import type { Connection } from '../sqlite/sqlite-connection.ts';
import { UPSERT_META } from '../store-identity.ts';
import { subAgents } from './agents/sub-agent-schema.ts';
import { backgroundCommands } from './background/background-schema.ts';
import { newestSchema } from './built/newest-schema.ts';
import { channels, sentFiles } from './channels/channel-schema.ts';
import { pushes } from './channels/push-schema.ts';
import { consents } from './consents/consent-schema.ts';
import { coordinators } from './coordinators/coordinator-schema.ts';
import { copyDatabase } from './copy-database.ts';
import { secrets } from './credential-schema.ts';
import { placedJobs } from './cron-schema.ts';
import { checkpoints } from './files/checkpoint-schema.ts';
import { fillChecksums } from './fills/fill-checksums.ts';
import { fillDeciders } from './fills/fill-deciders.ts';
import { fillOutcomes } from './fills/fill-outcomes.ts';
import { identities } from './identity-schema.ts';
import { labelled, listed, placed, sessionOrder } from './list-schema.ts';
import { agentMemories, memories } from './memory-schema.ts';
import { policies, rules } from './policy-schema.ts';
import {
  type MigrationPlan,
  planMigration,
  type SchemaVersion,
  toSchemaVersion,
  versionAfter,
} from './schema-version.ts';
import { skills } from './skills/skill-schema.ts';
import {
  alwaysEnds,
  apiTokens,
  attachments,
  blocks,
  checksums,
  compaction,
  cron,
  cuts,
  journaledDeciders,
  keepLastRunStatus,
  keysOfRuns,
  lastingOccurrence,
  lessSpace,
  lineage,
  nextRunOfOccurrence,
  nodes,
  nodesSeen,
  notes,
  outbox,
  prefixes,
  tables,
  usage,
  workdirs,
} from './tables.ts';
import { templates } from './template-schema.ts';
import { budgets, usageHours } from './usage-schema.ts';
import { auditOutcomes, owners, users } from './user-schema.ts';
import { assessments, verdicts } from './verdict-schema.ts';
import { watches, watchesOfChats } from './watches/watch-schema.ts';

/** One step of the schema. Versions count from 1 without gaps; released ones never change. */
export interface Migration {
  version: number;
  statements: readonly string[];
  /**
   * It only adds tables, indexes, and columns that may be null or have a default, and the release before does not miss what it
   * would write there. That release may then use the database, too: see `SchemaVersion`.
   */
  isAdditive?: true;
  /**
   * Changes existing rows, which would take too long in one transaction; runs before the statements. If interrupted, it
   * runs again from the beginning.
   */
  fill?(connection: Connection): void;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, statements: tables },
  { version: 2, statements: keepLastRunStatus },
  { version: 3, statements: apiTokens },
  { version: 4, statements: outbox },
  { version: 5, statements: nodes },
  { version: 6, statements: notes },
  { version: 7, statements: attachments },
  { version: 8, statements: cron },
  { version: 9, statements: nextRunOfOccurrence },
  { version: 10, statements: nodesSeen },
  { version: 11, statements: lastingOccurrence },
  { version: 12, statements: lineage },
  { version: 13, statements: checksums },
  { version: 14, statements: [], fill: fillChecksums },
  { version: 15, statements: alwaysEnds },
  { version: 16, statements: workdirs },
  { version: 17, statements: [], fill: fillOutcomes },
  { version: 18, statements: journaledDeciders, fill: fillDeciders },
  { version: 19, statements: cuts },
  { version: 20, statements: usage },
  { version: 21, statements: prefixes },
  { version: 22, statements: budgets },
  { version: 23, statements: compaction },
  { version: 24, statements: lessSpace },
  { version: 25, statements: blocks },
  { version: 26, statements: users },
  { version: 27, statements: memories },
  { version: 28, statements: templates },
  { version: 29, statements: auditOutcomes },
  { version: 30, statements: listed },
  { version: 31, statements: usageHours },
  { version: 32, statements: identities },
  { version: 33, statements: owners },
  { version: 34, statements: sessionOrder },
  { version: 35, statements: policies },
  { version: 36, statements: verdicts },
  { version: 37, statements: assessments },
  { version: 38, statements: secrets },
  { version: 39, statements: rules },
  { version: 40, statements: backgroundCommands },
  { version: 41, statements: checkpoints },
  { version: 42, statements: watches },
  { version: 43, statements: subAgents },
  { version: 44, statements: agentMemories },
  { version: 45, statements: coordinators },
  { version: 46, statements: skills },
  { version: 47, statements: consents },
  { version: 48, statements: channels },
  { version: 49, statements: sentFiles },
  { version: 50, statements: watchesOfChats },
  { version: 51, statements: pushes },
  { version: 52, statements: [] }, // files in the database, which only PostgreSQL has
  { version: 53, statements: keysOfRuns, isAdditive: true },
  { version: 54, statements: placed, isAdditive: true },
  { version: 55, statements: placedJobs, isAdditive: true },
  { version: 56, statements: labelled, isAdditive: true },
];

interface MigrateOptions {
  path: string;
  log: Log;
  migrations?: readonly Migration[];
  /** What makes the result of all migrations in an empty file. */
  atOnce?: readonly string[] | undefined;
}

/**
 * Brings a file to the newest schema, after copying an older one to `<path>.bak-v<N>`. Throws without changes when the
 * file was written by a newer Headgate, unless this one may use it, too.
 */
export function migrate(
  connection: Connection,
  { path, log, migrations = MIGRATIONS, atOnce = newestSchema }: MigrateOptions,
): void {
  const { from: found, to: newest } = plannedMigration(connection, { path, migrations });
  if (found > versionAfter(migrations).version) log.info({ version: found }, NEWER_SCHEMA);
  if (found === newest) return;
  if (found === 0) {
    create(connection, { migrations, atOnce });
  } else {
    backUp(connection, { path, found, log });
    for (const migration of migrations) {
      const upTo = migrations.slice(0, migrations.indexOf(migration) + 1);
      if (migration.version > found) apply(connection, migration, versionAfter(upTo));
    }
  }
  log.info({ from: found, to: newest }, 'the database has a new schema');
}

/** A line of the log. */
export const NEWER_SCHEMA = 'the database has the schema of a newer Headgate, which this one may use';

/** What `migrate` would do. Throws what it throws for a file that was written by a newer Headgate. */
export const plannedMigration = (
  connection: Pick<Connection, 'all'>,
  { path, migrations = MIGRATIONS }: Pick<MigrateOptions, 'path' | 'migrations'>,
): MigrationPlan =>
  planMigration(schemaOf(connection.all), versionAfter(migrations), {
    place: path,
    advice: 'Start the newer Headgate that wrote it, or move the file away to begin with an empty one.',
  });

/** The schema of a file, which is read by `all`. */
export function schemaOf(
  all: (sql: string, parameters?: readonly string[]) => Record<string, unknown>[],
): SchemaVersion {
  if (all("select 1 from sqlite_schema where type = 'table' and name = 'meta'").length === 0) return toSchemaVersion();
  const metaOf = (key: string) => all('select value from meta where key = ?', [key])[0]?.value;
  return toSchemaVersion({ version: metaOf(VERSION_KEY) ?? '', usableFrom: metaOf(USABLE_FROM_KEY) });
}

const VERSION_KEY = 'schema_version';
/** Missing when only its own version may use the database. */
const USABLE_FROM_KEY = 'schema_usable_from';

/** Keeps earlier copies with other content, because the older version may have used the file since. */
function backUp(connection: Connection, { path, found, log }: { path: string; found: number; log: Log }): void {
  const copy = copyDatabase(connection, `${path}.bak-v${found}`);
  log.info({ copy }, 'a copy of the database was kept before migrating it');
}

/** Makes all of a new file in one transaction, because each commit waits for the disk. */
function create(
  connection: Connection,
  { migrations, atOnce }: Required<Pick<MigrateOptions, 'migrations' | 'atOnce'>>,
): void {
  const isEmpty = connection.all('select 1 from sqlite_schema limit 1').length === 0;
  const statements = (isEmpty ? atOnce : undefined) ?? migrations.flatMap((migration) => migration.statements);
  const made = versionAfter(migrations);
  apply(connection, { version: made.version, statements }, made);
}

function apply(connection: Connection, { version, statements, fill }: Migration, made: SchemaVersion): void {
  fill?.(connection);
  connection.run('begin immediate');
  try {
    // Each runs once, so that it should not take up memory as a prepared statement.
    for (const statement of statements) connection.database.exec(statement);
    connection.run(UPSERT_META, [VERSION_KEY, String(version)]);
    if (made.usableFrom < version) connection.run(UPSERT_META, [USABLE_FROM_KEY, String(made.usableFrom)]);
    else connection.run('delete from meta where key = ?', [USABLE_FROM_KEY]);
    connection.run('commit');
  } catch (error) {
    if (connection.database.isTransaction) connection.run('rollback');
    throw new Error(`the migration to schema version ${version} failed; nothing was changed`, { cause: error });
  }
}
