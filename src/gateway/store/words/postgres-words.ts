import { type RawBuilder, sql } from 'kysely';
import type { WordIndex } from './word-index.ts';

/** The indexes are tables with a column `words` of the type `tsvector` (word-tables.ts). */
export const postgresWords: WordIndex = {
  matches: ({ as }, match) => sql<boolean>`${wordsOf(as)} @@ ${toQuery(match)}`,
  // Longer texts count less, as in SQLite's ranking.
  rank: ({ as }, match) => sql<number>`-ts_rank_cd(${wordsOf(as)}, ${toQuery(match)}, 1)`,
};

const wordsOf = (as: string): RawBuilder<unknown> => sql.ref(`${as}.words`);

const toQuery = (match: string): RawBuilder<unknown> => sql`cast(${toTsQuery(match)} as tsquery)`;

/** The expression for PostgreSQL, which is empty if it finds nothing; exported for its test. The index has no words such as `½`. */
export function toTsQuery(match: string): string {
  const phrases = [...match.matchAll(PHRASE)].flatMap(([, text = '', star = '']) => {
    const words = toWords(text).map((word) => `'${word}'`);
    if (words.length === 0) return [];
    const phrase = words.join(' <-> ') + (star && ':*');
    return [words.length > 1 ? `(${phrase})` : phrase];
  });
  return phrases.join(match.includes('" OR "') ? ' | ' : ' & ');
}

const PHRASE = /"([^"]*)"( \*)?/g;

/** As the function `words_of` of the database reads a text. The words consist of letters and digits, so that quotes suffice. */
const toWords = (text: string): string[] =>
  text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{Nd}]+/u)
    .filter((word) => word !== '')
    .map((word) => [...word].slice(0, MOST_CHARS).join(''));

/** PostgreSQL refuses words of more than 2 KiB, so the index has the beginnings of longer ones. */
const MOST_CHARS = 500;
