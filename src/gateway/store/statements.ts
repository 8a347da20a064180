import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database } from './schema/schema.ts';
import type { Statement } from './store.ts';

/** Converts a query made with `build` to a statement for a unit. `expect`: how many rows it must change. */
export function statementOf(query: { compile(): CompiledQuery }, expect?: number, tag?: string): Statement {
  const { sql, parameters } = query.compile();
  if (expect === undefined) return { sql, parameters };
  return tag === undefined ? { sql, parameters, expect } : { sql, parameters, expect, tag };
}

/** Builds queries but cannot run them: `statementOf(build.insertInto('messages').values(row))`. */
export const build = new Kysely<Database>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
