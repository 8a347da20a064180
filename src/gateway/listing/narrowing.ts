import { type RawBuilder, sql } from 'kysely';

/** Which workstreams a list or a search looks at; all of them without these. */
export interface Narrowing {
  workdir?: string | undefined;
  modelAlias?: string | undefined;
  /** The owner; empty: the operator. */
  userId?: string | undefined;
  updatedSinceMs?: number | undefined;
  updatedBeforeMs?: number | undefined;
}

/** A condition for the table `workstreams`. Those without a model of their own have the usual one. */
export function narrowedTo(
  { workdir, modelAlias, userId, updatedSinceMs, updatedBeforeMs }: Narrowing,
  usual: { alias: string },
): RawBuilder<boolean> {
  const conditions = [
    workdir !== undefined && sql`workstreams.workdir = ${workdir}`,
    modelAlias !== undefined && sql`coalesce(workstreams.model_alias, ${usual.alias}) = ${modelAlias}`,
    userId !== undefined && sql`workstreams.owner_id = ${userId}`,
    updatedSinceMs !== undefined && sql`workstreams.updated_ms >= ${updatedSinceMs}`,
    updatedBeforeMs !== undefined && sql`workstreams.updated_ms < ${updatedBeforeMs}`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}
