import type { memoryContracts } from '../../../protocol/methods/memory.ts';
import type { Call, Handlers } from '../call.ts';
import type { Memories, MemoryPage, MemoryRow } from '../memories/memories.ts';
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

const LISTED = 100;
const FOUND = 20;

export const memoryMethods = (memories: Memories): Handlers<keyof typeof memoryContracts> => ({
  ...callerMethods(memories),
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
      const { row, created } = await memories.save(memory, audited(call));
      return { memory: toMemory(row), created };
    },
    'memory.search': async ({ query, limit = FOUND, ...filters }, call) => {
      const options = { limit, counts: true };
      return toPage(await memories.search(checkQuery(query), ownFilter(filters, call), options), toMemory);
    },
    'memory.get': async ({ name, ...place }, call) =>
      toMemory(await memories.read(checkMemoryName(name), getPlace(place, call.principal?.userId))),
    'memory.delete': async ({ name: given, ...place }, call) => {
      const name = checkMemoryName(given);
      await memories.remove(name, getPlace(place, call.principal?.userId), audited(call));
      return { status: 'ok', name };
    },
  } satisfies Partial<Handlers>;
}

function adminMethods(memories: Memories) {
  return {
    'memory.admin.list': async ({ limit = LISTED, ...filters }) =>
      toPage(await memories.list(anyFilter(filters), limit), toAdminMemory),
    'memory.admin.search': async ({ query, limit = FOUND, ...filters }) => {
      const options = { limit, counts: false };
      return toPage(await memories.search(checkQuery(query), anyFilter(filters), options), toAdminMemory);
    },
    'memory.admin.get': async ({ memoryId }) => toAdminMemory(await memories.get(memoryId)),
    'memory.admin.delete': async ({ memoryId }, call) => ({
      status: 'ok',
      name: await memories.removeById(memoryId, audited(call)),
    }),
  } satisfies Partial<Handlers>;
}

interface Filters {
  type?: string | undefined;
  scope?: string | undefined;
  scopeId?: string | undefined;
}

function ownFilter({ type, ...place }: Filters, { principal }: Call): MemoryFilter {
  const userId = principal?.userId;
  return { type: type === undefined ? undefined : checkType(type), ...findPlace(place, userId), reader: { userId } };
}

const anyFilter = ({ type, scope, scopeId }: Filters): MemoryFilter => ({
  type: type === undefined ? undefined : checkType(type),
  scope: scope === undefined ? undefined : checkScope(scope),
  scopeId,
  reader: 'administrator',
});

/** The trail names the memory, never what it says. */
const audited =
  (call: Call) =>
  ({ memory_id, name, scope, scope_id }: Pick<MemoryRow, 'memory_id' | 'name' | 'scope' | 'scope_id'>) =>
    call.audited({ id: memory_id, name, scope, scopeId: scope_id });

const toPage = <M>({ rows, truncated }: MemoryPage, to: (row: MemoryRow) => M) => ({
  memories: rows.map(to),
  total: rows.length,
  ...(truncated && { truncated: true as const }),
});
