import type { MemoryTable } from '../store/schema/memory-schema.ts';
import type { Statement } from '../store/store.ts';
import { toIndexed } from './memory-words.ts';

/** So much of a memory is compared with messages, besides its name and description. */
const HEAD_CHARS = 200;

type Texts = Pick<MemoryTable, 'memory_id' | 'name' | 'description' | 'content'>;

/** The two indexes of words: of everything, for searches, and of the heads, which messages are compared with. */
export const insertWords = ({ memory_id, name, description, content }: Texts): Statement[] =>
  (
    [
      ['memory_words', 'content', content],
      ['memory_heads', 'head', content.slice(0, HEAD_CHARS)],
    ] as const
  ).map(([table, column, text]) => ({
    sql: `insert into ${table} (rowid, name, description, ${column})
      select seq, ?, ?, ? from memories where memory_id = ?`,
    parameters: [...[name, description, text].map(toIndexed), memory_id],
    expect: 1,
  }));

export const deleteWords = ({ seq }: Pick<MemoryTable, 'seq'>): Statement[] =>
  deleteWordsOf({ sql: 'select cast(? as bigint)', parameters: [seq] });

/** Of the memories whose numbers the query yields. */
export const deleteWordsOf = ({ sql, parameters }: Pick<Statement, 'sql' | 'parameters'>): Statement[] =>
  ['memory_words', 'memory_heads'].map((table) => ({
    sql: `delete from ${table} where rowid in (${sql})`,
    parameters,
  }));
