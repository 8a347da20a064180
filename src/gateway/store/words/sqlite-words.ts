import { sql } from 'kysely';
import type { WordIndex } from './word-index.ts';

/** The indexes are FTS5 tables, whose query syntax `match` is. */
export const sqliteWords: WordIndex = {
  matches: ({ table, as }, match) => sql<boolean>`${sql.ref(`${as}.${table}`)} match ${match}`,
  rank: ({ table }) => sql<number>`bm25(${sql.ref(table)})`,
};
