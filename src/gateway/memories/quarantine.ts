import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import { type Statement, type Store, tookEffect, UnitRefused } from '../store/store.ts';
import type { Memories, NewMemory } from './memories.ts';
import { type MemoryFilter, requirePerceived } from './memory-rows.ts';
import { type MemoryOrigin, readOrigin } from './origin.ts';
import {
  deleteQuarantined,
  deleteQuarantinedNamed,
  type FoundQuarantined,
  insertQuarantined,
  readQuarantined,
  readQuarantinedById,
} from './quarantine-rows.ts';

/** More than a person would look through. */
const MOST_QUARANTINED = 500;

/** Answers stay well below what a connection may buffer for long. */
const MOST_PAGE_CHARS = 2 * 1024 * 1024;

/** Who looks at a memory and decides about it. */
interface Decider {
  viewer: Viewer;
  /** Holds the permission `admin.memories`. */
  administers: boolean;
  /** Stored with the decision, such as its record in the audit trail. */
  also(memory: FoundQuarantined): readonly Statement[];
}

/** Memories that agents saved after they had read untrusted content. They wait until a person has looked at them. */
export interface Quarantine {
  /** Replaces the waiting memory of this name and place; the memory that is in use stays. Throws CONFLICT if too many wait. */
  add(memory: NewMemory, origin: MemoryOrigin): Promise<void>;
  /** `truncated`: more were within the limit, but too large together. */
  list(filter: MemoryFilter, limit: number): Promise<{ rows: FoundQuarantined[]; truncated: boolean }>;
  /** Makes it a memory like others, which keeps its origin. Throws NOT_FOUND, also if it was decided meanwhile. */
  release(memoryId: string, by: Decider): Promise<Awaited<ReturnType<Memories['save']>>>;
  /** Deletes it. Throws NOT_FOUND. */
  discard(memoryId: string, by: Decider): Promise<FoundQuarantined>;
  /** Called when a memory has begun or ended to wait. */
  onChanged(listener: () => void): void;
}

interface QuarantineDeps {
  store: Pick<Store, 'db' | 'commit'>;
  memories: Pick<Memories, 'save'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
  mostQuarantined?: number;
}

export function createQuarantine(deps: QuarantineDeps): Quarantine {
  const { store, memories } = deps;
  const listeners: (() => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const get = async (memoryId: string, by: Decider): Promise<FoundQuarantined> => {
    const [row] = (await readQuarantinedById(memoryId, by).execute(store.db)).rows;
    if (row === undefined) throw unknownId();
    return row;
  };
  return {
    async add(memory, origin) {
      await add(memory, origin, deps);
      changed();
    },
    onChanged: (listener) => void listeners.push(listener),
    async list(filter, limit) {
      const { rows } = await readQuarantined(filter, limit).execute(store.db);
      let chars = 0;
      const shown = rows.filter(({ content }, index) => {
        chars += content.length;
        return index === 0 || chars <= MOST_PAGE_CHARS;
      });
      return { rows: shown, truncated: shown.length < rows.length };
    },
    async release(memoryId, by) {
      const row = await get(memoryId, by);
      const memory: NewMemory = {
        name: row.name,
        description: row.description,
        type: { type: row.type, isDefault: false },
        scope: row.scope,
        scopeId: row.scope_id,
        content: row.content,
      };
      const origin = readOrigin(row.origin_json) ?? { by: 'agent', isTrusted: false };
      const also = () => [deleteQuarantined(memoryId), ...by.also(row)];
      try {
        const saved = await memories.save(memory, { viewer: by.viewer, origin, also });
        changed();
        return saved;
      } catch (error) {
        throw error instanceof UnitRefused ? unknownId(error) : error;
      }
    },
    async discard(memoryId, by) {
      const row = await get(memoryId, by);
      const unit = { statements: [deleteQuarantined(memoryId), ...by.also(row)], durable: true };
      if (!(await tookEffect(store.commit(unit)))) throw unknownId();
      changed();
      return row;
    },
  };
}

async function add(
  { name, scope, scopeId, description, type, content }: NewMemory,
  origin: MemoryOrigin,
  { store, clock, ids, mostQuarantined = MOST_QUARANTINED }: QuarantineDeps,
): Promise<void> {
  const { waiting } = await store.db
    .selectFrom('quarantined_memories')
    .select(({ fn }) => fn.countAll<number>().as('waiting'))
    .where(({ not, and }) => not(and({ name, scope, scope_id: scopeId })))
    .executeTakeFirstOrThrow();
  if (Number(waiting) >= mostQuarantined)
    throw new GatewayError(
      'CONFLICT',
      `${mostQuarantined} memories wait for a person already; nothing more can be saved after untrusted content`,
    );
  const row = {
    memory_id: ids.id('mem'),
    scope,
    scope_id: scopeId,
    type: type.type,
    name,
    description,
    created_ms: clock.now(),
    origin_json: JSON.stringify(origin),
    content,
  };
  const { wsId } = origin;
  const guard = wsId === undefined ? [] : [requirePerceived(wsId, DAEMON)];
  await store.commit({
    statements: [...guard, deleteQuarantinedNamed(row), insertQuarantined(row)],
    durable: true,
  });
}

const unknownId = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Memory not found', { cause });
