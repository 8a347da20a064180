import type { MemoryScope, MemoryType } from '../../../../protocol/methods/memory.ts';

/** What people and agents want remembered. Unique by memory_id, and by (name, scope, scope_id). */
export interface MemoryTable {
  /** The place in the order of saving, which every save renews; the row of `memory_words` has the same number. */
  seq: number;
  memory_id: string;
  scope: MemoryScope;
  /** A workstream or a user; empty for the scope `global`. */
  scope_id: string;
  type: MemoryType;
  name: string;
  description: string;
  created_ms: number;
  updated_ms: number;
  last_accessed_ms: number | null;
  access_count: number;
  /** The last column, so that filters do not read it. */
  content: string;
}

/**
 * Schema version 27: memories, and the index of their words. The index has its own copy of the texts, because it is
 * filled with texts that are prepared for it (`memory-words.ts`); with `secure-delete`, deleted words leave no trace in
 * it.
 */
export const memories: readonly string[] = [
  `create table memories (
    seq integer not null primary key, memory_id text not null, scope text not null, scope_id text not null,
    type text not null, name text not null, description text not null, created_ms bigint not null,
    updated_ms bigint not null, last_accessed_ms bigint, access_count bigint not null, content text not null
  )`,
  'create unique index memories_by_id on memories (memory_id)',
  'create unique index memories_by_name on memories (name, scope, scope_id)',
  // Its entries of one scope are in the order of saving.
  'create index memories_by_scope on memories (scope, scope_id)',
  "create virtual table memory_words using fts5 (name, description, content, tokenize = 'unicode61 remove_diacritics 2')",
  "insert into memory_words (memory_words, rank) values ('secure-delete', 1)",
];
