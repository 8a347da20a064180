import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { MemoryType } from '../../../protocol/methods/memory.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { MemoryTable } from '../store/schema/memory-schema.ts';
import { type Statement, type Store, tookEffect, UnitRefused } from '../store/store.ts';
import type { MemoryPlace } from './memory-input.ts';
import {
  countAccess,
  deleteMemory,
  endOfStep,
  type FoundMemory,
  findMemories,
  insertMemory,
  type MemoryFilter,
  NOT_PERCEIVED,
  perceivedPlace,
  readFound,
  requirePerceived,
  type SavedFields,
  updateMemory,
} from './memory-rows.ts';
import { MOST_WORDS, toWordQuery } from './memory-words.ts';
import { type MemoryOrigin, readOrigin } from './origin.ts';

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

/** Who changes a memory. */
export interface Change {
  viewer: Viewer;
  /** Stored with the change, such as its record in the audit trail. */
  also(memory: Omit<MemoryRow, 'seq'>): readonly Statement[];
}

export interface Memories {
  list(filter: MemoryFilter, limit: number): Promise<MemoryPage>;
  /** Throws INVALID_REQUEST for a query with too many words. `counts`: the hits count as used. */
  search(query: string, filter: MemoryFilter, options: { limit: number; counts: boolean }): Promise<MemoryPage>;
  /** Counts as a use. Throws NOT_FOUND. */
  read(name: string, place: MemoryPlace, viewer: Viewer): Promise<MemoryRow>;
  /** Does not count as a use. Throws NOT_FOUND. */
  get(memoryId: string, viewer: Viewer): Promise<MemoryRow>;
  /**
   * Replaces the memory of this name and place. Throws CONFLICT when there are too many, and NOT_FOUND when the viewer
   * perceives no such workstream.
   */
  save(
    memory: NewMemory,
    by: Change & { origin: MemoryOrigin },
  ): Promise<{ row: Omit<MemoryRow, 'seq'>; created: boolean }>;
  /** Throws NOT_FOUND. */
  remove(name: string, place: MemoryPlace, by: Change): Promise<void>;
  /** Returns the name. Throws NOT_FOUND. */
  removeById(memoryId: string, by: Change): Promise<string>;
}

interface MemoriesDeps {
  store: Pick<Store, 'db' | 'words' | 'commit'>;
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

  const page = (filter: MemoryFilter, search: { match?: string; limit: number }): Promise<MemoryPage> =>
    readPage(filter, search, { store, mostPageBytes });
  const removeRow = async (row: MemoryRow, { also }: Change, missing: GatewayError): Promise<void> => {
    const unit = { statements: [...deleteMemory(row), ...also(row)], durable: true };
    // Its workstream was deleted meanwhile, with its memories.
    if (!(await tookEffect(store.commit(unit)))) throw missing;
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
    async read(name, place, viewer) {
      const row = await getByName(deps, name, { place, viewer });
      noteAccess([row], deps);
      return row;
    },
    get: (memoryId, viewer) => getById(deps, memoryId, viewer),
    save: (memory, by) => inTurn(() => save(memory, by, deps)),
    remove: (name, place, by) =>
      inTurn(async () => {
        const row = await getByName(deps, name, { place, viewer: by.viewer });
        await removeRow(row, by, unknownName(name));
      }),
    removeById: (memoryId, by) =>
      inTurn(async () => {
        const row = await getById(deps, memoryId, by.viewer);
        await removeRow(row, by, unknownId());
        return row.name;
      }),
  };
}

/** Memories that one turn of the event loop looks at; a few milliseconds. */
const STEP = 1_000;

/** Many memories may be in private workstreams, and no index knows of whom, so it looks at some at a time. */
async function readPage(
  filter: MemoryFilter,
  { match, limit }: { match?: string; limit: number },
  { store: { db, words }, mostPageBytes }: { store: Pick<Store, 'db' | 'words'>; mostPageBytes: number },
): Promise<MemoryPage> {
  const hasIndex = match === undefined && filter.scopeId !== undefined;
  const found: FoundMemory[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; before > 0 && found.length < limit; ) {
    if (before < Number.MAX_SAFE_INTEGER) await nextTurn();
    const end = hasIndex ? undefined : (await endOfStep(before, STEP).execute(db)).rows[0];
    const from = end?.seq ?? 0;
    const step = findMemories(filter, { words, match, limit: limit - found.length, from, before });
    found.push(...(await step.execute(db)).rows);
    before = from;
  }
  let bytes = 0;
  const shown = found.filter((memory, index) => {
    bytes += memory.bytes;
    return index === 0 || bytes <= mostPageBytes;
  });
  const { rows } = await readFound(filter, shown).execute(db);
  return { rows, truncated: shown.length < found.length };
}

async function save(
  { name, scope, scopeId, description, type, content }: NewMemory,
  { viewer, also, origin }: Change & { origin: MemoryOrigin },
  { store, clock, ids, mostMemories = MOST_MEMORIES }: MemoriesDeps,
) {
  const nowMs = clock.now();
  const guard = scope === 'workstream' ? [requirePerceived(scopeId, viewer)] : [];
  const commit = async (statements: Statement[]): Promise<void> => {
    const unit = { statements: [...guard, ...statements], durable: true };
    await store.commit(unit).catch((error: unknown) => {
      throw error instanceof UnitRefused && error.tag === NOT_PERCEIVED ? unknownWorkstream(error) : error;
    });
  };
  const before = await findByName({ store }, name, { place: { scope, scopeId }, viewer: DAEMON });
  if (before !== undefined) {
    const fields: SavedFields = {
      type: type.isDefault ? before.type : type.type,
      description: description === '' ? before.description : description,
      content,
      updated_ms: nowMs,
      origin_json: JSON.stringify(keepsUntrusted(before, description) ? { ...origin, isTrusted: false } : origin),
    };
    await commit([...updateMemory(before, fields), ...also(before)]);
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
    origin_json: JSON.stringify(origin),
  };
  await commit([...insertMemory(row), ...also(row)]);
  return { row, created: true };
}

/** Whether the description of a replaced memory stays, for which nobody vouches. */
const keepsUntrusted = (before: MemoryRow, description: string): boolean =>
  description === '' && before.description !== '' && readOrigin(before.origin_json)?.isTrusted !== true;

interface Reading {
  store: Pick<Store, 'db'>;
}

const findByName = (
  { store }: Reading,
  name: string,
  { place: { scope, scopeId }, viewer }: { place: MemoryPlace; viewer: Viewer },
): Promise<MemoryRow | undefined> =>
  store.db
    .selectFrom('memories as m')
    .selectAll()
    .where('name', '=', name)
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .where(perceivedPlace(viewer))
    .executeTakeFirst();

async function getByName(
  reading: Reading,
  name: string,
  { place, viewer }: { place: MemoryPlace; viewer: Viewer },
): Promise<MemoryRow> {
  const row = await findByName(reading, name, { place, viewer });
  if (row === undefined) throw unknownName(name);
  return row;
}

async function getById({ store }: Reading, memoryId: string, viewer: Viewer): Promise<MemoryRow> {
  const row = await store.db
    .selectFrom('memories as m')
    .selectAll()
    .where('memory_id', '=', memoryId)
    .where(perceivedPlace(viewer))
    .executeTakeFirst();
  if (row === undefined) throw unknownId();
  return row;
}

const unknownName = (name: string) => new GatewayError('NOT_FOUND', `Memory '${name}' not found`);
const unknownId = () => new GatewayError('NOT_FOUND', 'Memory not found');
const unknownWorkstream = (cause: unknown) => new GatewayError('NOT_FOUND', 'Unknown workstream', { cause });

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
