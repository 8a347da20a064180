import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { MemoryType } from '../../../protocol/methods/memory.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import type { MemoryTable } from '../store/schema/memory-schema.ts';
import type { Statement, Store } from '../store/store.ts';
import type { MemoryPlace } from './memory-input.ts';
import {
  countAccess,
  deleteMemory,
  findRows,
  insertMemory,
  type MemoryFilter,
  type SavedFields,
  updateMemory,
} from './memory-rows.ts';
import { MOST_WORDS, toWordQuery } from './memory-words.ts';

/** Answers stay well below what a connection may buffer for long. */
const MOST_PAGE_BYTES = 6 * 1024 * 1024;
const MOST_MEMORIES = 100_000;

export type MemoryRow = MemoryTable;

/** The newest memories that were found. `truncated`: more were within the limit, but too large together. */
export interface MemoryPage {
  rows: MemoryRow[];
  truncated: boolean;
}

/** A memory as it is saved. An empty description keeps that of a replaced memory, as the default type keeps its type. */
export interface NewMemory extends MemoryPlace {
  name: string;
  description: string;
  type: { type: MemoryType; isDefault: boolean };
  content: string;
}

/** Stored with the change, such as its record in the audit trail. */
type Also = (memory: Omit<MemoryRow, 'seq'>) => readonly Statement[];

export interface Memories {
  list(filter: MemoryFilter, limit: number): Promise<MemoryPage>;
  /** Throws INVALID_REQUEST for a query with too many words. `counts`: the hits count as used. */
  search(query: string, filter: MemoryFilter, options: { limit: number; counts: boolean }): Promise<MemoryPage>;
  /** Counts as a use. Throws NOT_FOUND. */
  read(name: string, place: MemoryPlace): Promise<MemoryRow>;
  /** Does not count as a use. Throws NOT_FOUND. */
  get(memoryId: string): Promise<MemoryRow>;
  /** Replaces the memory of this name and place. Throws CONFLICT when there are too many. */
  save(memory: NewMemory, also: Also): Promise<{ row: Omit<MemoryRow, 'seq'>; created: boolean }>;
  /** Throws NOT_FOUND. */
  remove(name: string, place: MemoryPlace, also: Also): Promise<void>;
  /** Returns the name. Throws NOT_FOUND. */
  removeById(memoryId: string, also: Also): Promise<string>;
}

interface MemoriesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
  log: Log;
  mostMemories?: number;
  mostPageBytes?: number;
}

/** What people and agents want remembered, with an index of its words. */
export function createMemories(deps: MemoriesDeps): Memories {
  const { store, mostPageBytes = MOST_PAGE_BYTES } = deps;
  // A change reads a memory before it writes it, so changes take turns.
  const serial = createSerialKeys();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => serial.run('memories', work);

  const page = async (
    filter: MemoryFilter,
    { match, limit }: { match?: string; limit: number },
  ): Promise<MemoryPage> => {
    const { rows } = await findRows(filter, { match, limit, mostBytes: mostPageBytes }).execute(store.db);
    return { rows, truncated: rows.length < (rows[0]?.found ?? 0) };
  };
  const removeRow = async (row: MemoryRow, also: Also): Promise<void> => {
    await store.commit({ statements: [...deleteMemory(row), ...also(row)], durable: true });
  };

  return {
    list: (filter, limit) => page(filter, { limit }),
    async search(query, filter, { limit, counts }) {
      const words = toWordQuery(query);
      if (words.kind === 'nothing') return { rows: [], truncated: false };
      if (words.kind === 'too many words')
        throw new GatewayError('INVALID_REQUEST', `query has more than ${MOST_WORDS} different words`);
      const found = await page(filter, { match: words.match, limit });
      if (counts) noteAccess(found.rows, deps);
      return found;
    },
    async read(name, place) {
      const row = await getByName(deps, name, place);
      noteAccess([row], deps);
      return row;
    },
    get: (memoryId) => getById(deps, memoryId),
    save: (memory, also) => inTurn(() => save(memory, also, deps)),
    remove: (name, place, also) => inTurn(async () => removeRow(await getByName(deps, name, place), also)),
    removeById: (memoryId, also) =>
      inTurn(async () => {
        const row = await getById(deps, memoryId);
        await removeRow(row, also);
        return row.name;
      }),
  };
}

async function save(
  { name, scope, scopeId, description, type, content }: NewMemory,
  also: Also,
  { store, clock, ids, mostMemories = MOST_MEMORIES }: MemoriesDeps,
) {
  const nowMs = clock.now();
  const before = await findByName({ store }, name, { scope, scopeId });
  if (before !== undefined) {
    const fields: SavedFields = {
      type: type.isDefault ? before.type : type.type,
      description: description === '' ? before.description : description,
      content,
      updated_ms: nowMs,
    };
    await store.commit({ statements: [...updateMemory(before, fields), ...also(before)], durable: true });
    return { row: { ...before, ...fields }, created: false };
  }
  if ((await countAll({ store })) >= mostMemories)
    throw new GatewayError('CONFLICT', `Memory limit (${mostMemories}) reached; delete memories first`);
  const row = {
    memory_id: ids.id('mem'),
    scope,
    scope_id: scopeId,
    type: type.type,
    name,
    description,
    created_ms: nowMs,
    updated_ms: nowMs,
    last_accessed_ms: null,
    access_count: 0,
    content,
  };
  await store.commit({ statements: [...insertMemory(row), ...also(row)], durable: true });
  return { row, created: true };
}

type Reading = Pick<MemoriesDeps, 'store'>;

const findByName = (
  { store }: Reading,
  name: string,
  { scope, scopeId }: MemoryPlace,
): Promise<MemoryRow | undefined> =>
  store.db
    .selectFrom('memories')
    .selectAll()
    .where('name', '=', name)
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .executeTakeFirst();

async function getByName(reading: Reading, name: string, place: MemoryPlace): Promise<MemoryRow> {
  const row = await findByName(reading, name, place);
  if (row === undefined) throw new GatewayError('NOT_FOUND', `Memory '${name}' not found`);
  return row;
}

async function getById({ store }: Reading, memoryId: string): Promise<MemoryRow> {
  const row = await store.db.selectFrom('memories').selectAll().where('memory_id', '=', memoryId).executeTakeFirst();
  if (row === undefined) throw new GatewayError('NOT_FOUND', 'Memory not found');
  return row;
}

async function countAll({ store }: Reading): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from memories`.execute(store.db);
  return Number(rows[0]?.n ?? 0);
}

/** Counts uses for administrators. Does not delay the answer, and nothing depends on it. */
function noteAccess(rows: readonly MemoryRow[], { store, clock, log }: MemoriesDeps): void {
  if (rows.length === 0) return;
  const seqs = rows.map(({ seq }) => seq);
  store.commit({ statements: [countAccess(seqs, clock.now())] }).catch((err: unknown) => {
    log.warn({ err }, 'the use of memories could not be counted');
  });
}
