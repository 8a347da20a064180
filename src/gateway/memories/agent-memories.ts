import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { MemoryScope } from '../../../protocol/methods/memory.ts';
import type {
  AgentMemory,
  AgentPlaces,
  Compared,
  FoundMemories,
  MemoryQuery,
  MemorySource,
  RelevantMemories,
} from '../../agent/memory/memory-source.ts';
import { memoryKey } from '../../agent/memory/memory-source.ts';
import { type Owned, sightInCommon } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import type { Memories, MemoryPage, MemoryRow, NewMemory } from './memories.ts';
import { checkMemoryName, checkQuery, type MemoryPlace, typeToSave } from './memory-input.ts';
import { countMatching, type MemoryFilter, rankHeads, readFound } from './memory-rows.ts';
import { toRankingQuery } from './memory-words.ts';
import { readOrigin } from './origin.ts';
import type { Quarantine } from './quarantine.ts';

/** Settings of the memories of agents. */
export interface MemorySettings {
  /** How many memories are brought in with a message; 0: none. */
  readonly relevanceK: number;
  /** How many memories a look of the agent reads at most. */
  readonly fetchLimit: number;
  /** How many characters the content may have that an agent saves. */
  readonly maxContent: number;
  /** Whether the model is reminded of its memory. */
  readonly nudges: boolean;
  /** How long after a reminder there is no other one for the same reason. */
  readonly nudgeCooldownSecs: number;
}

interface AgentMemoriesDeps {
  store: Pick<Store, 'db' | 'words'>;
  memories: Memories;
  quarantine: Pick<Quarantine, 'add'>;
  /** Read at each use. */
  settings(): MemorySettings;
}

const LISTED = 20;

/** The memories as agents use them: for the owner of the workstream, as far as all who see the workstream may see. */
export function createAgentMemories(deps: AgentMemoriesDeps): MemorySource {
  const { memories, quarantine } = deps;
  const find = async (
    wsId: string,
    { scope, type, limit = LISTED }: MemoryQuery,
    read: (filter: MemoryFilter, most: number) => Promise<MemoryPage>,
  ): Promise<FoundMemories> => {
    const filter = { ...filterFor(wsId, await ownedBy(wsId, deps), scope), type };
    const most = Math.min(limit, deps.settings().fetchLimit);
    const { rows, truncated } = await read(filter, most + 1);
    return { memories: rows.slice(0, most).map(toAgentMemory), isCut: truncated || rows.length > most };
  };
  return {
    placesIn: async (wsId) => placesFor(await ownedBy(wsId, deps)),
    list: (wsId, query) => find(wsId, query, (filter, limit) => memories.list(filter, limit)),
    search: (wsId, words, query) =>
      find(wsId, query, (filter, limit) => memories.search(checkQuery(words), filter, { limit, counts: true })),
    async save(wsId, { type, scope, ...rest }, { callId, taint }) {
      const owned = await ownedBy(wsId, deps);
      const name = checkMemoryName(rest.name);
      const memory = { ...rest, ...placeOf(wsId, owned, scope), type: typeToSave(type), name };
      const origin = { by: 'agent' as const, isTrusted: taint === undefined, wsId, callId };
      if (taint) {
        if (await wasSaved(memory, { wsId, callId }, deps)) return { name, how: 'new' };
        await quarantine.add(memory, { ...origin, taint });
        return { name, how: 'quarantined' };
      }
      const saved = await memories.save(memory, { viewer: sightInCommon(owned), origin, also: () => [] });
      return { name, how: saved.created ? 'new' : 'replaced' };
    },
    async remove(wsId, given, scope) {
      const owned = await ownedBy(wsId, deps);
      const name = checkMemoryName(given);
      await memories.remove(name, placeOf(wsId, owned, scope), { viewer: sightInCommon(owned), also: () => [] });
      return name;
    },
    forRuns: (wsId) => ({
      relevant: (look) => findRelevant(wsId, look, deps),
      async any() {
        const filter = filterFor(wsId, await ownedBy(wsId, deps), undefined);
        const { rows } = await countMatching(filter, 1).execute(deps.store.db);
        return Number(rows[0]?.n ?? 0) > 0;
      },
      nudgeCooldownMs() {
        const { nudges, nudgeCooldownSecs } = deps.settings();
        return nudges ? nudgeCooldownSecs * 1_000 : undefined;
      },
    }),
  };
}

/**
 * Whether this call has saved this memory before a kill of the daemon: a call beside it may have read untrusted content
 * meanwhile.
 */
async function wasSaved(
  { name, scope, scopeId, content }: NewMemory,
  call: { wsId: string; callId: string },
  { store }: Pick<AgentMemoriesDeps, 'store'>,
): Promise<boolean> {
  const found = await store.db
    .selectFrom('memories')
    .select('origin_json')
    .where((where) => where.and({ name, scope, scope_id: scopeId, content }))
    .executeTakeFirst();
  const origin = found && readOrigin(found.origin_json);
  return origin !== undefined && origin.wsId === call.wsId && origin.callId === call.callId;
}

/** So many of the newest memories are ranked, because each message waits for it. */
const MOST_RANKED = 5_000;

async function findRelevant(
  wsId: string,
  look: () => Compared,
  deps: AgentMemoriesDeps,
): Promise<RelevantMemories | undefined> {
  const { relevanceK, fetchLimit } = deps.settings();
  const { db, words } = deps.store;
  if (relevanceK === 0) return undefined;
  const { rows: ends } = await sql<{ newest: number | null }>`select max(seq) as newest from memories`.execute(db);
  const newest = Number(ends[0]?.newest ?? 0);
  if (newest === 0) return undefined;
  const { texts, known } = look();
  const match = toRankingQuery(texts);
  if (match === undefined) return undefined;
  const filter = filterFor(wsId, await ownedBy(wsId, deps), undefined);
  const limit = Math.max(fetchLimit, relevanceK + known.size);
  const { rows: ranked } = await rankHeads(filter, { words, match, after: newest - MOST_RANKED, limit }).execute(db);
  const isNew = ({ memory_id: memoryId, seq: version }: (typeof ranked)[number]) =>
    !known.has(memoryKey({ memoryId, version }));
  const chosen = ranked.filter(isNew).slice(0, relevanceK);
  if (chosen.length === 0) return undefined;
  const found = await readFound(
    filter,
    chosen.map(({ seq }) => ({ seq, bytes: 0 })),
  ).execute(db);
  const bySeq = new Map(found.rows.map((row) => [row.seq, row]));
  const memories = chosen.flatMap(({ seq }) => bySeq.get(seq) ?? []).map(toAgentMemory);
  const { rows: counted } = await countMatching(filter, MOST_COUNTED).execute(db);
  return { memories, others: Math.max(0, Number(counted[0]?.n ?? 0) - memories.length) };
}

/** Counting more would only cost time. */
const MOST_COUNTED = 1_000;

async function ownedBy(wsId: string, { store }: Pick<AgentMemoriesDeps, 'store'>): Promise<Owned> {
  const row = await store.db
    .selectFrom('workstreams')
    .select(['owner_id', 'visibility'])
    .where('ws_id', '=', wsId)
    .where('loaded', '!=', DELETED)
    .executeTakeFirst();
  if (!row) throw new GatewayError('NOT_FOUND', 'Unknown workstream');
  return { ownerId: row.owner_id, visibility: row.visibility };
}

/** The user's own memories are shown only where nobody else reads the conversation. */
const isPrivateOf = ({ ownerId, visibility }: Owned): boolean => ownerId !== '' && visibility === 'private';

function placesFor(owned: Owned): AgentPlaces {
  const isEveryones = owned.ownerId === '' && owned.visibility === 'shared';
  if (isPrivateOf(owned)) return { usual: 'user', scopes: ['user', 'workstream', 'global'], asksForGlobal: true };
  return {
    usual: isEveryones ? 'global' : 'workstream',
    scopes: ['workstream', 'global'],
    asksForGlobal: !isEveryones,
  };
}

function placeOf(wsId: string, owned: Owned, scope: MemoryScope): MemoryPlace {
  if (scope === 'global') return { scope, scopeId: '' };
  if (scope === 'workstream') return { scope, scopeId: wsId };
  if (isPrivateOf(owned)) return { scope, scopeId: owned.ownerId };
  // Since the call was prepared.
  throw new GatewayError('FORBIDDEN', 'Others see this conversation now, so it has no memories of its owner.');
}

const filterFor = (wsId: string, owned: Owned, scope: MemoryScope | undefined): MemoryFilter => ({
  ...(scope !== undefined && placeOf(wsId, owned, scope)),
  viewer: sightInCommon(owned),
  inWorkstream: wsId,
});

function toAgentMemory(row: MemoryRow): AgentMemory {
  const origin = readOrigin(row.origin_json);
  return {
    memoryId: row.memory_id,
    version: row.seq,
    name: row.name,
    description: row.description,
    type: row.type,
    scope: row.scope,
    content: row.content,
    updatedMs: row.updated_ms,
    ...(origin && { by: origin.by }),
    ...(origin?.wsId !== undefined && row.scope !== 'global' && { wsId: origin.wsId }),
    isUntrusted: origin?.isTrusted !== true,
  };
}
