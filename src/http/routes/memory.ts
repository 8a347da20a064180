import { memoryEndpoints } from '../../../protocol/http/memory.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind, given } from '../bind.ts';
import { iso } from '../iso.ts';

const toMemory = ({
  memoryId,
  name,
  description,
  type,
  scope,
  scopeId,
  content,
  createdAtMs,
  updatedAtMs,
}: Result<'memory.get'>) => ({
  memory_id: memoryId,
  name,
  description,
  type,
  scope,
  scope_id: scopeId,
  content,
  created: iso(createdAtMs),
  updated: iso(updatedAtMs),
});

const toAdminMemory = ({ lastAccessedAtMs, accessCount, ...memory }: Result<'memory.admin.get'>) => ({
  ...toMemory(memory),
  last_accessed: lastAccessedAtMs === null ? null : iso(lastAccessedAtMs),
  access_count: accessCount,
});

type Quarantined = Result<'memory.quarantine.list'>['memories'][number];

const toQuarantined = ({ createdAtMs, memoryId, scopeId, wsId, callId, ...memory }: Quarantined) => ({
  memory_id: memoryId,
  name: memory.name,
  description: memory.description,
  type: memory.type,
  scope: memory.scope,
  scope_id: scopeId,
  content: memory.content,
  created: iso(createdAtMs),
  taint: memory.taint,
  ws_id: wsId,
  call_id: callId,
});

interface Place {
  scope?: string | null | undefined;
  scope_id?: string | null | undefined;
}

const placeOf = ({ scope, scope_id }: Place) => ({ scope: given(scope), scopeId: given(scope_id) });
const filtersOf = ({ type, ...place }: Place & { type?: string | null | undefined }) => ({
  type: given(type),
  ...placeOf(place),
});

const LIST_MOST = 200;
const SEARCH_MOST = 50;

/** HTTP is lenient: a limit out of range is moved into it. */
export const limitOf = (limit: unknown, most: number): number | undefined =>
  limit === undefined || limit === null || limit === '' ? undefined : Math.min(Math.max(Number(limit), 1), most);

const pageOf = <M, H>(
  { memories, total, truncated }: { memories: M[]; total: number; truncated?: true | undefined },
  to: (memory: M) => H,
) => ({
  memories: memories.map(to),
  total,
  truncated,
});

export const memoryRoutes = [
  bind(memoryEndpoints.list, 'memory.list', {
    params: ({ limit, ...filters }) => ({ ...filtersOf(filters), limit: limitOf(limit, LIST_MOST) }),
    reply: (page) => pageOf(page, toMemory),
  }),
  bind(memoryEndpoints.save, 'memory.save', {
    params: ({ name, content, description, ...filters }) => ({ name, content, description, ...filtersOf(filters) }),
    reply: ({ memory }) => toMemory(memory),
    isNew: ({ created }) => created,
  }),
  bind(memoryEndpoints.search, 'memory.search', {
    params: ({ query, limit, ...filters }) => ({ query, ...filtersOf(filters), limit: limitOf(limit, SEARCH_MOST) }),
    reply: (page) => pageOf(page, toMemory),
  }),
  bind(memoryEndpoints.get, 'memory.get', {
    params: ({ name, ...place }) => ({ name, ...placeOf(place) }),
    reply: toMemory,
  }),
  bind(memoryEndpoints.remove, 'memory.delete', {
    params: ({ name, ...place }) => ({ name, ...placeOf(place) }),
    reply: ({ status, name }) => ({ status, name }),
  }),
  bind(memoryEndpoints.quarantined, 'memory.quarantine.list', {
    params: ({ limit, ...filters }) => ({ ...filtersOf(filters), limit: limitOf(limit, LIST_MOST) }),
    reply: (page) => pageOf(page, toQuarantined),
  }),
  bind(memoryEndpoints.release, 'memory.quarantine.release', {
    params: ({ memory_id }) => ({ memoryId: memory_id }),
    reply: ({ memory }) => toMemory(memory),
    isNew: ({ created }) => created,
  }),
  bind(memoryEndpoints.discard, 'memory.quarantine.discard', {
    params: ({ memory_id }) => ({ memoryId: memory_id }),
    reply: ({ status, name }) => ({ status, name }),
  }),
  bind(memoryEndpoints.adminList, 'memory.admin.list', {
    params: ({ limit, ...filters }) => ({ ...filtersOf(filters), limit: limitOf(limit, LIST_MOST) }),
    reply: (page) => pageOf(page, toAdminMemory),
  }),
  bind(memoryEndpoints.adminSearch, 'memory.admin.search', {
    params: ({ q, limit, ...filters }) => ({ query: q, ...filtersOf(filters), limit: limitOf(limit, SEARCH_MOST) }),
    fieldNames: { query: 'q' },
    reply: (page) => pageOf(page, toAdminMemory),
  }),
  bind(memoryEndpoints.adminGet, 'memory.admin.get', {
    params: ({ memory_id }) => ({ memoryId: memory_id }),
    reply: toAdminMemory,
  }),
  bind(memoryEndpoints.adminRemove, 'memory.admin.delete', {
    params: ({ memory_id }) => ({ memoryId: memory_id }),
    reply: ({ status, name }) => ({ status, name }),
  }),
];
