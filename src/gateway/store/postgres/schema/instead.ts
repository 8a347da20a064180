import { OUTCOME_OF_AUDIT } from '../../schema/user-schema.ts';
import { storedFiles } from './file-tables.ts';
import { agentWords, memoryWords } from './word-tables.ts';

/** What PostgreSQL runs in place of some statements of a migration. */
interface Instead {
  skips(statement: string): boolean;
  statements: readonly string[];
}

/** SQLite's tables of full-text search. */
const isOfWords = (statement: string): boolean =>
  /create virtual table|insert into (?:memory_words|memory_heads|message_words)\b/.test(statement);

/** By the version of the migration. */
export const INSTEAD: ReadonlyMap<number, Instead> = new Map<number, Instead>([
  [27, { skips: isOfWords, statements: memoryWords }],
  // An expression of an index is in brackets of its own.
  [29, { skips: () => true, statements: [`create index audit_by_outcome on audit ((${OUTCOME_OF_AUDIT}), seq)`] }],
  // SQLite numbers rows in the order of their insertion.
  [
    43,
    {
      skips: () => false,
      statements: ['alter table sub_agents add column rowid bigint not null generated always as identity'],
    },
  ],
  [44, { skips: isOfWords, statements: agentWords }],
  [52, { skips: () => false, statements: storedFiles }],
]);
