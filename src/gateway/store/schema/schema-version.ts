/** The schema of a database. */
export interface SchemaVersion {
  version: number;
  /**
   * The lowest version whose Headgate may use this database. Below `version` when the newest migrations only add something,
   * so that a service can go back to the release before (decision 184).
   */
  usableFrom: number;
}

/**
 * From what a database says; nothing is said by one without tables, and of `usableFrom` by most. A damaged version is not a number,
 * and a damaged `usableFrom` opens no way back.
 */
export function toSchemaVersion(found: { version?: unknown; usableFrom?: unknown } = {}): SchemaVersion {
  const version = toVersion(found.version ?? 0);
  const usableFrom = toVersion(found.usableFrom ?? version);
  return { version, usableFrom: usableFrom >= 1 && usableFrom <= version ? usableFrom : version };
}

/** Databases have numbers as texts, too. */
const toVersion = (value: unknown): number => (/^\d{1,9}$/.test(String(value)) ? Number(value) : Number.NaN);

/** What these migrations lead to. */
export function versionAfter(migrations: readonly { version: number; isAdditive?: true }[]): SchemaVersion {
  const version = migrations.at(-1)?.version ?? 0;
  return { version, usableFrom: migrations.findLast(({ isAdditive }) => isAdditive !== true)?.version ?? version };
}

/** What is to be done with a database before this Headgate uses it; `from` and `to` are the same if it is nothing. */
export interface MigrationPlan {
  from: number;
  to: number;
  /** After it, see `SchemaVersion`. */
  usableFrom: number;
}

/** Throws for a damaged version, and for a database that only a newer Headgate can use; `advice` says what to do then. */
export function planMigration(
  found: SchemaVersion,
  own: SchemaVersion,
  { place, advice }: { place: string; advice: string },
): MigrationPlan {
  if (Number.isNaN(found.version))
    throw new Error(`${place} is damaged: it does not say which schema version it has. Restore a backup of it.`);
  if (found.version <= own.version) return { from: found.version, to: own.version, usableFrom: own.usableFrom };
  if (found.usableFrom <= own.version) return { from: found.version, to: found.version, usableFrom: found.usableFrom };
  throw new Error(
    `${place} has schema version ${found.version}, but this Headgate knows versions up to ${own.version}. ${advice}`,
  );
}
