import { type RawBuilder, sql } from 'kysely';
import type { AdminMemory, Memory, MemoryScope, MemoryType } from '../../../protocol/methods/memory.ts';
import type { MemoryTable } from '../store/schema/memory-schema.ts';
import type { Statement } from '../store/store.ts';
import { toIndexed } from './memory-words.ts';

/** Which memories a reader gets. */
export interface MemoryFilter {
  type?: MemoryType | undefined;
  scope?: MemoryScope | undefined;
  scopeId?: string | undefined;
  /** An administrator reads everything; others do not read what belongs to another user. */
  reader: 'administrator' | { userId: string | undefined };
}

/** A row of a page, with the number of rows that were found, including those that are too large for the page. */
export type FoundRow = MemoryTable & { found: number };

/**
 * The newest matching rows whose texts have at most `mostBytes` together; at least one, if any match. `match`: an
 * expression for the index of words.
 */
export function findRows(
  filter: MemoryFilter,
  { match, limit, mostBytes }: { match: string | undefined; limit: number; mostBytes: number },
): RawBuilder<FoundRow> {
  const conditions = toConditions(filter);
  const from =
    match === undefined
      ? sql`memories as m where ${conditions}`
      : // A cross join begins with the index, which yields its rows in the right order.
        sql`memory_words as w cross join memories as m on m.seq = w.rowid where w.memory_words match ${match} and ${conditions}`;
  const newest = match === undefined ? sql`m.seq` : sql`w.rowid`;
  return sql<FoundRow>`
    with found as materialized (
      select m.seq, octet_length(m.content) + octet_length(m.description) as bytes
      from ${from} order by ${newest} desc limit ${limit}
    ), page as materialized (
      select seq, bytes, sum(bytes) over (order by seq desc) as sum_bytes, count(*) over () as found from found
    )
    select m.*, page.found from page cross join memories as m on m.seq = page.seq
    where page.sum_bytes <= ${mostBytes} or page.sum_bytes = page.bytes
    order by page.seq desc`;
}

function toConditions({ type, scope, scopeId, reader }: MemoryFilter): RawBuilder<unknown> {
  const conditions = [sql`1`];
  if (type !== undefined) conditions.push(sql`m.type = ${type}`);
  if (scope !== undefined) conditions.push(sql`m.scope = ${scope}`);
  if (scopeId !== undefined) conditions.push(sql`m.scope_id = ${scopeId}`);
  if (scope === undefined && reader !== 'administrator')
    conditions.push(sql`(m.scope <> 'user' or m.scope_id = ${reader.userId ?? ''})`);
  return sql.join(conditions, sql` and `);
}

/** The fields that a save changes; the order of saving changes, too. */
export type SavedFields = Pick<MemoryTable, 'type' | 'description' | 'content' | 'updated_ms'>;

/** Only the writer of the memory knows its number, so the statements find it by its id. */
export const insertMemory = (row: Omit<MemoryTable, 'seq'>): Statement[] => {
  const columns = Object.entries(row);
  return [
    {
      sql: `insert into memories (seq, ${columns.map(([name]) => name).join(', ')})
        select ${NEXT_SEQ}, ${columns.map(() => '?').join(', ')}`,
      parameters: columns.map(([, value]) => value),
    },
    insertWords(row),
  ];
};

export const updateMemory = (row: MemoryTable, fields: SavedFields): Statement[] => [
  deleteWords(row),
  {
    sql: `update memories set seq = ${NEXT_SEQ}, type = ?, description = ?, content = ?, updated_ms = ? where memory_id = ?`,
    parameters: [fields.type, fields.description, fields.content, fields.updated_ms, row.memory_id],
    expect: 1,
  },
  insertWords({ ...row, ...fields }),
];

export const deleteMemory = (row: MemoryTable): Statement[] => [
  deleteWords(row),
  { sql: 'delete from memories where memory_id = ?', parameters: [row.memory_id], expect: 1 },
];

/** Everything that only this user could read. */
export const deleteMemoriesOf = (userId: string): Statement[] => [
  {
    sql: `delete from memory_words where rowid in (select seq from memories where scope = 'user' and scope_id = ?)`,
    parameters: [userId],
  },
  { sql: `delete from memories where scope = 'user' and scope_id = ?`, parameters: [userId] },
];

/** One more use of each of these memories. */
export const countAccess = (seqs: readonly number[], nowMs: number): Statement => ({
  sql: `update memories set last_accessed_ms = ?, access_count = access_count + 1
    where seq in (select value from json_each(?))`,
  parameters: [nowMs, JSON.stringify(seqs)],
});

const NEXT_SEQ = '(select coalesce(max(seq), 0) + 1 from memories)';

const insertWords = ({
  memory_id,
  name,
  description,
  content,
}: Pick<MemoryTable, 'memory_id' | 'name' | 'description' | 'content'>): Statement => ({
  sql: `insert into memory_words (rowid, name, description, content)
    select seq, ?, ?, ? from memories where memory_id = ?`,
  parameters: [...[name, description, content].map(toIndexed), memory_id],
  expect: 1,
});

const deleteWords = ({ seq }: Pick<MemoryTable, 'seq'>): Statement => ({
  sql: 'delete from memory_words where rowid = ?',
  parameters: [seq],
});

export const toMemory = (row: Omit<MemoryTable, 'seq'>): Memory => ({
  memoryId: row.memory_id,
  name: row.name,
  description: row.description,
  type: row.type,
  scope: row.scope,
  scopeId: row.scope_id,
  content: row.content,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});

export const toAdminMemory = (row: MemoryTable): AdminMemory => ({
  ...toMemory(row),
  lastAccessedAtMs: row.last_accessed_ms,
  accessCount: row.access_count,
});
