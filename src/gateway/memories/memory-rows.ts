import { type RawBuilder, sql } from 'kysely';
import type { AdminMemory, Memory, MemoryScope, MemoryType } from '../../../protocol/methods/memory.ts';
import { perceivedBy, seesEverything, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { MemoryTable } from '../store/schema/memory-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import type { NamedIndex, WordIndex } from '../store/words/word-index.ts';
import { deleteWords, deleteWordsOf, insertWords } from './memory-index.ts';

/** Which memories a reader gets. */
export interface MemoryFilter {
  type?: MemoryType | undefined;
  scope?: MemoryScope | undefined;
  scopeId?: string | undefined;
  /** Never reads memories of workstreams that it does not perceive. */
  viewer: Viewer;
  /** Reads what belongs to other users, too. */
  administers?: boolean;
  /** Of the memories of workstreams only those of this one. */
  inWorkstream?: string;
}

/** A memory that was found, and the length of its texts. */
export interface FoundMemory {
  seq: number;
  bytes: number;
}

interface Search {
  words: WordIndex;
  /** An expression for the index of words. */
  match: string | undefined;
  limit: number;
  /** Only those with numbers from the first to before the second. */
  from: number;
  before: number;
}

const WORDS: NamedIndex = { table: 'memory_words', as: 'w' };
const HEADS: NamedIndex = { table: 'memory_heads', as: 'h' };

/** The newest matching memories. */
export function findMemories(
  filter: MemoryFilter,
  { words, match, limit, from, before }: Search,
): RawBuilder<FoundMemory> {
  const found =
    match === undefined
      ? sql`memories as m where`
      : // A cross join begins with the index, which yields its rows in the right order.
        sql`memory_words as w cross join memories as m where m.seq = w.rowid and ${words.matches(WORDS, match)} and`;
  const newest = match === undefined ? sql`m.seq` : sql`w.rowid`;
  return sql<FoundMemory>`
    select m.seq, octet_length(m.content) + octet_length(m.description) as bytes
    from ${found} ${newest} >= ${from} and ${newest} < ${before} and ${toConditions(filter)}
    order by ${newest} desc limit ${limit}`;
}

/** The rows of found memories, as far as they still match. */
export const readFound = (filter: MemoryFilter, found: readonly FoundMemory[]): RawBuilder<MemoryTable> =>
  sql<MemoryTable>`
    select m.* from memories as m
    where m.seq in (select cast(value as bigint) from json_each(${JSON.stringify(found.map(({ seq }) => seq))})) and ${toConditions(filter)}
    order by m.seq desc`;

/** The memories whose heads fit best to a query, the best first. `after`: only those with higher numbers. */
export const rankHeads = (
  filter: MemoryFilter,
  { words, match, after, limit }: { words: WordIndex; match: string; after: number; limit: number },
): RawBuilder<Pick<MemoryTable, 'seq' | 'memory_id'>> =>
  sql`
    select m.seq, m.memory_id
    from memory_heads as h cross join memories as m
    where m.seq = h.rowid and ${words.matches(HEADS, match)} and h.rowid > ${after} and ${toConditions(filter)}
    order by ${words.rank(HEADS, match)}, m.seq desc limit ${limit}`;

/** How many memories match, up to a limit. */
export const countMatching = (filter: MemoryFilter, limit: number): RawBuilder<{ n: number }> =>
  sql<{ n: number }>`
    select count(*) as n from (select 1 from memories as m where ${toConditions(filter)} limit ${limit}) as counted`;

/** The number of the last memory in a step of so many, downwards from a number. */
export const endOfStep = (before: number, rows: number): RawBuilder<{ seq: number }> =>
  sql<{ seq: number }>`select seq from memories where seq < ${before} order by seq desc limit 1 offset ${rows - 1}`;

export function toConditions({
  type,
  scope,
  scopeId,
  viewer,
  administers = false,
  inWorkstream,
}: MemoryFilter): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  if (type !== undefined) conditions.push(sql`m.type = ${type}`);
  if (scope !== undefined) conditions.push(sql`m.scope = ${scope}`);
  if (scopeId !== undefined) conditions.push(sql`m.scope_id = ${scopeId}`);
  if (scope === undefined && !administers)
    conditions.push(sql`(m.scope <> 'user' or m.scope_id = ${viewer.userId ?? ''})`);
  if (inWorkstream !== undefined) conditions.push(sql`(m.scope <> 'workstream' or m.scope_id = ${inWorkstream})`);
  // The last, because it looks into another table.
  if (scope === undefined || scope === 'workstream') conditions.push(perceivedPlace(viewer, scopeId));
  return sql.join(conditions, sql` and `);
}

/**
 * Whether the row `m` belongs to no workstream, or to one that the viewer perceives. Those of workstreams that do not exist
 * may be left of private ones, so only viewers who see everything get them. `scopeId`: the one that all rows have.
 */
export const perceivedPlace = (viewer: Viewer, scopeId?: string): RawBuilder<boolean> =>
  seesEverything(viewer)
    ? sql<boolean>`true`
    : sql<boolean>`(m.scope <> 'workstream' or exists (
        select 1 from workstreams
        where workstreams.ws_id = ${scopeId ?? sql`m.scope_id`} and workstreams.loaded <> ${DELETED} and ${perceivedBy(viewer)}
      ))`;

/** Refuses the unit unless the viewer perceives the workstream. Changes nothing. */
export const requirePerceived = (wsId: string, viewer: Viewer): Statement => {
  const same = build
    .updateTable('workstreams')
    .set(({ ref }) => ({ updated_ms: ref('updated_ms') }))
    .where('ws_id', '=', wsId)
    .where('loaded', '!=', DELETED)
    .where(perceivedBy(viewer));
  return { ...statementOf(same, 1), tag: NOT_PERCEIVED };
};

export const NOT_PERCEIVED = 'not perceived';

/** The fields that a save changes; the order of saving changes, too. */
export type SavedFields = Pick<MemoryTable, 'type' | 'description' | 'content' | 'updated_ms' | 'origin_json'>;

/** Only the writer of the memory knows its number, so the statements find it by its id. */
export const insertMemory = (row: Omit<MemoryTable, 'seq'>): Statement[] => {
  const columns = Object.entries(row);
  return [
    {
      sql: `insert into memories (seq, ${columns.map(([name]) => name).join(', ')})
        select ${NEXT_SEQ}, ${columns.map(() => '?').join(', ')}`,
      parameters: columns.map(([, value]) => value),
    },
    ...insertWords(row),
  ];
};

export const updateMemory = (row: MemoryTable, fields: SavedFields): Statement[] => [
  ...deleteWords(row),
  {
    sql: `update memories set seq = ${NEXT_SEQ}, type = ?, description = ?, content = ?, updated_ms = ?, origin_json = ?
      where memory_id = ?`,
    parameters: [fields.type, fields.description, fields.content, fields.updated_ms, fields.origin_json, row.memory_id],
    expect: 1,
  },
  ...insertWords({ ...row, ...fields }),
];

export const deleteMemory = (row: MemoryTable): Statement[] => [
  ...deleteWords(row),
  { sql: 'delete from memories where memory_id = ?', parameters: [row.memory_id], expect: 1 },
];

/** Everything that only this user could read. */
export const deleteMemoriesOf = (userId: string): Statement[] => [
  ...deleteWordsOf({ sql: `select seq from memories where scope = 'user' and scope_id = ?`, parameters: [userId] }),
  ...['memories', 'quarantined_memories'].map((table) => ({
    sql: `delete from ${table} where scope = 'user' and scope_id = ?`,
    parameters: [userId],
  })),
];

/** One more use of each of these memories. */
export const countAccess = (seqs: readonly number[], nowMs: number): Statement => ({
  sql: `update memories set last_accessed_ms = ?, access_count = access_count + 1
    where seq in (select cast(value as bigint) from json_each(?))`,
  parameters: [nowMs, JSON.stringify(seqs)],
});

const NEXT_SEQ = '(select coalesce(max(seq), 0) + 1 from memories)';

/** What memories in use and those that wait have in common. */
export const toSaved = (
  row: Pick<
    MemoryTable,
    'memory_id' | 'name' | 'description' | 'type' | 'scope' | 'scope_id' | 'content' | 'created_ms'
  >,
) => ({
  memoryId: row.memory_id,
  name: row.name,
  description: row.description,
  type: row.type,
  scope: row.scope,
  scopeId: row.scope_id,
  content: row.content,
  createdAtMs: row.created_ms,
});

export const toMemory = (row: Omit<MemoryTable, 'seq'>): Memory => ({
  ...toSaved(row),
  updatedAtMs: row.updated_ms,
});

export const toAdminMemory = (row: MemoryTable): AdminMemory => ({
  ...toMemory(row),
  lastAccessedAtMs: row.last_accessed_ms,
  accessCount: row.access_count,
});
