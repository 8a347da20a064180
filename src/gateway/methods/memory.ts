import type { memoryContracts } from '../../../protocol/methods/memory.ts';
import type { Call, Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Memories, MemoryRow } from '../memories/memories.ts';
import {
  checkContent,
  checkMemoryName,
  checkQuery,
  checkScope,
  checkType,
  findPlace,
  getPlace,
  typeToSave,
} from '../memories/memory-input.ts';
import { type MemoryFilter, toAdminMemory, toMemory } from '../memories/memory-rows.ts';
import type { MemoryOrigin } from '../memories/origin.ts';
import type { Quarantine } from '../memories/quarantine.ts';
import { toQuarantined } from '../memories/quarantine-rows.ts';
import { viewerOf } from '../sharing/perception.ts';
import { mayUse } from '../users/grant.ts';

const LISTED = 100;
const FOUND = 20;

interface MemoryMethodDeps {
  memories: Memories;
  quarantine: Quarantine;
}

export const memoryMethods = ({ memories, quarantine }: MemoryMethodDeps): Handlers<keyof typeof memoryContracts> => ({
  ...callerMethods(memories),
  ...quarantineMethods(quarantine),
  ...adminMethods(memories),
});

function callerMethods(memories: Memories) {
  return {
    'memory.list': async ({ limit = LISTED, ...filters }, call) =>
      toPage(await memories.list(ownFilter(filters, call), limit), toMemory),
    'memory.save': async ({ name, content, description = '', type, ...place }, call) => {
      const memory = {
        name: checkMemoryName(name),
        content: checkContent(content),
        type: typeToSave(type),
        description,
        ...getPlace(place, call.principal?.userId),
      };
      const { row, created } = await memories.save(memory, { ...changeBy(call), origin: originOf(call) });
      return { memory: toMemory(row), created };
    },
    'memory.search': async ({ query, limit = FOUND, ...filters }, call) => {
      const options = { limit, counts: true };
      return toPage(await memories.search(checkQuery(query), ownFilter(filters, call), options), toMemory);
    },
    'memory.get': async ({ name, ...place }, call) =>
      toMemory(await memories.read(checkMemoryName(name), getPlace(place, call.principal?.userId), viewerOf(call))),
    'memory.delete': async ({ name: given, ...place }, call) => {
      const name = checkMemoryName(given);
      await memories.remove(name, getPlace(place, call.principal?.userId), changeBy(call));
      return { status: 'ok', name };
    },
  } satisfies Partial<Handlers>;
}

function quarantineMethods(quarantine: Quarantine) {
  return {
    'memory.quarantine.list': async ({ limit = LISTED, ...filters }, call) => {
      const filter = administers(call) ? anyFilter(filters, call) : ownFilter(filters, call);
      return toPage(await quarantine.list(filter, limit), toQuarantined);
    },
    'memory.quarantine.release': async ({ memoryId }, call) => {
      const { row, created } = await quarantine.release(memoryId, deciderOf(call));
      return { memory: toMemory(row), created };
    },
    'memory.quarantine.discard': async ({ memoryId }, call) => ({
      status: 'ok',
      name: (await quarantine.discard(memoryId, deciderOf(call))).name,
    }),
  } satisfies Partial<Handlers>;
}

const administers = ({ principal }: Call): boolean => principal !== undefined && mayUse(principal, 'admin.memories');

const deciderOf = (call: Call) => ({ ...changeBy(call), administers: administers(call) });

/** A message of this caller would be trusted, too. */
const originOf = (call: Call): MemoryOrigin => ({ by: 'person', isTrusted: callerOf(call).rights === 'approve' });

function adminMethods(memories: Memories) {
  return {
    'memory.admin.list': async ({ limit = LISTED, ...filters }, call) =>
      toPage(await memories.list(anyFilter(filters, call), limit), toAdminMemory),
    'memory.admin.search': async ({ query, limit = FOUND, ...filters }, call) => {
      const options = { limit, counts: false };
      return toPage(await memories.search(checkQuery(query), anyFilter(filters, call), options), toAdminMemory);
    },
    'memory.admin.get': async ({ memoryId }, call) => toAdminMemory(await memories.get(memoryId, viewerOf(call))),
    'memory.admin.delete': async ({ memoryId }, call) => ({
      status: 'ok',
      name: await memories.removeById(memoryId, changeBy(call)),
    }),
  } satisfies Partial<Handlers>;
}

interface Filters {
  type?: string | undefined;
  scope?: string | undefined;
  scopeId?: string | undefined;
}

const ownFilter = ({ type, ...place }: Filters, call: Call): MemoryFilter => ({
  type: type === undefined ? undefined : checkType(type),
  ...findPlace(place, call.principal?.userId),
  viewer: viewerOf(call),
});

const anyFilter = ({ type, scope, scopeId }: Filters, call: Call): MemoryFilter => ({
  type: type === undefined ? undefined : checkType(type),
  scope: scope === undefined ? undefined : checkScope(scope),
  scopeId,
  viewer: viewerOf(call),
  administers: true,
});

/**
 * The trail names the memory, never what it says. In a workstream, which may be private, now or later, it has only the id,
 * because the trail is read by people who do not perceive it.
 */
const changeBy = (call: Call) => ({
  viewer: viewerOf(call),
  also: ({ memory_id, name, scope, scope_id }: Pick<MemoryRow, 'memory_id' | 'name' | 'scope' | 'scope_id'>) =>
    call.audited({ id: memory_id, ...(scope !== 'workstream' && { name }), scope, scopeId: scope_id }),
});

const toPage = <R, M>({ rows, truncated }: { rows: R[]; truncated: boolean }, to: (row: R) => M) => ({
  memories: rows.map(to),
  total: rows.length,
  ...(truncated && { truncated: true as const }),
});
