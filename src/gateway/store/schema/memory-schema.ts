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
  /** Behind all columns that filters read. */
  content: string;
  /** Who saved it, and after which untrusted content; null: an earlier version did not store that. */
  origin_json: string | null;
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

/** A memory that waits until a person has looked at it. Unique by memory_id, and by (name, scope, scope_id). */
export interface QuarantinedMemoryTable
  extends Pick<
    MemoryTable,
    'memory_id' | 'scope' | 'scope_id' | 'type' | 'name' | 'description' | 'created_ms' | 'content'
  > {
  /** See MemoryTable. */
  origin_json: string;
}

/** How far the messages of a workstream are in the index of words. Unique by ws_no, and by ws_id. */
interface RecalledWorkstreamTable {
  /** The upper part of the row numbers of its messages in `message_words`. */
  ws_no: number;
  ws_id: string;
  /** The number of the last message that was looked at. */
  indexed_seq: number;
  /** What the conversation had read by then that nobody trusts; null: nothing. */
  taint_json: string | null;
}

/** The tables of memories, and of what agents recall. */
export interface MemoryTables {
  memories: MemoryTable;
  quarantined_memories: QuarantinedMemoryTable;
  recalled_workstreams: RecalledWorkstreamTable;
}

/**
 * Schema version 44: what agents saved after they had read untrusted content has a table of its own, so that nothing else
 * finds it. `memory_heads` has the part of memories that messages are compared with, prepared as in `memory_words`. The
 * index of messages is filled when an agent searches it.
 */
export const agentMemories: readonly string[] = [
  'alter table memories add column origin_json text',
  `create table quarantined_memories (
    memory_id text not null primary key, scope text not null, scope_id text not null, type text not null,
    name text not null, description text not null, created_ms bigint not null, origin_json text not null,
    content text not null
  )`,
  'create unique index quarantined_memories_by_name on quarantined_memories (name, scope, scope_id)',
  "create virtual table memory_heads using fts5 (name, description, head, tokenize = 'unicode61 remove_diacritics 2')",
  "insert into memory_heads (memory_heads, rank) values ('secure-delete', 1)",
  `insert into memory_heads (rowid, name, description, head)
    select rowid, name, description, substr(content, 1, 200) from memory_words`,
  `create table recalled_workstreams (
    ws_no integer not null primary key, ws_id text not null, indexed_seq bigint not null, taint_json text
  )`,
  'create unique index recalled_workstreams_by_id on recalled_workstreams (ws_id)',
  "create virtual table message_words using fts5 (text, taint unindexed, tokenize = 'unicode61 remove_diacritics 2')",
  "insert into message_words (message_words, rank) values ('secure-delete', 1)",
];
