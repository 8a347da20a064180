/**
 * The words of a text with their places, as FTS5's tokenizer `unicode61 remove_diacritics 2` would find them. The parsers of
 * PostgreSQL are not used: they take addresses, and numbers with a point, as one word. What is beyond the length that a
 * `tsvector` can hold is not found, and of very long words the beginning counts.
 */
const wordsOf = `create or replace function words_of(content text) returns tsvector language plpgsql immutable as $$
    declare
      base text := regexp_replace(normalize(left(content, 150000), NFD), '[\\u0300-\\u036f]', '', 'g');
      folded text := lower(normalize(base, NFC) collate "und-x-icu");
    begin
      return (
        select coalesce(string_agg('''' || left(found.word, 500) || ''':' || least(found.place, 16383), ' '), '')::tsvector
        from regexp_split_to_table(folded collate "und-x-icu", '[^[:alnum:]]+') with ordinality as found (word, place)
        where found.word <> ''
      );
    end $$`;

/** A table to which the same statements write as to an FTS5 table of SQLite. */
const tableOf = (table: string, texts: readonly string[], more = ''): string[] => [
  `create table ${table} (
    rowid bigint not null primary key, ${more}${texts.map((column) => `${column} text not null`).join(', ')},
    words tsvector not null generated always as (${texts.map((column) => `words_of(${column})`).join(' || ')}) stored
  )`,
  `create index ${table}_by_word on ${table} using gin (words)`,
];

/** In place of the index of schema version 27. */
export const memoryWords: readonly string[] = [wordsOf, ...tableOf('memory_words', ['name', 'description', 'content'])];

/** In place of the indexes of schema version 44. */
export const agentWords: readonly string[] = [
  ...tableOf('memory_heads', ['name', 'description', 'head']),
  `insert into memory_heads (rowid, name, description, head)
    select rowid, name, description, left(content, 200) from memory_words`,
  ...tableOf('message_words', ['text'], 'taint text not null, '),
];
