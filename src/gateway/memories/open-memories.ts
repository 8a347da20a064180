import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import { createAgentMemories, type MemorySettings } from './agent-memories.ts';
import { createMemories } from './memories.ts';
import { createQuarantine } from './quarantine.ts';

interface OpenMemoriesDeps {
  store: Pick<Store, 'db' | 'words' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
  log: Log;
  settings(): MemorySettings;
}

export type OpenedMemories = ReturnType<typeof openMemories>;

/** The memories of a store: as people use them, those that wait for people, and as agents use them. */
export function openMemories({ store, clock, ids, log, settings }: OpenMemoriesDeps) {
  const memories = createMemories({ store, clock, ids, log });
  const quarantine = createQuarantine({ store, memories, clock, ids });
  return { memories, quarantine, agents: createAgentMemories({ store, memories, quarantine, settings }) };
}
