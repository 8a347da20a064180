import type { RawBuilder } from 'kysely';

/** An index of words in a query, and its name there. */
export interface NamedIndex {
  table: 'message_words' | 'memory_words' | 'memory_heads';
  as: string;
}

/**
 * Finds rows of the indexes of words. Every database has these tables, with the columns that are inserted and a `rowid`; only
 * the search itself differs.
 *
 * `match` is what `toWordQuery` and `toRankingQuery` make: phrases in quotes with ` AND ` or ` OR ` between them; ` *` behind a
 * phrase also finds longer words that begin with its last one. Case and diacritics do not matter.
 */
export interface WordIndex {
  /** A condition: the row has these words. */
  matches(index: NamedIndex, match: string): RawBuilder<boolean>;
  /** Orders found rows: the best one has the lowest number. */
  rank(index: NamedIndex, match: string): RawBuilder<number>;
}
