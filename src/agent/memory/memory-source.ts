import type { Taint } from '../../../protocol/events/rules.ts';
import type { MemoryScope, MemoryType } from '../../../protocol/methods/memory.ts';

/** What a memory or an old message brings into a conversation that nobody trusts. */
export type StoredTaint = Pick<Taint, 'kind' | 'target'>;

/** A memory as an agent gets it. */
export interface AgentMemory {
  memoryId: string;
  /** Another one after each change. */
  version: number;
  name: string;
  description: string;
  type: MemoryType;
  scope: MemoryScope;
  content: string;
  updatedMs: number;
  /** Who saved it; absent: an earlier version did not store that. */
  by?: 'person' | 'agent';
  /** The workstream whose agent saved it. */
  wsId?: string;
  /** Nobody vouches for its text. */
  isUntrusted: boolean;
}

/** What the agent of a workstream may use. It acts for the owner, as far as all who see the workstream may know of it. */
export interface AgentPlaces {
  /** Where it saves unless it says otherwise. */
  usual: MemoryScope;
  scopes: readonly MemoryScope[];
  /** What it saves for everyone is read by people who do not see this conversation, or do not own it. */
  asksForGlobal: boolean;
}

/** A memory to save, in one of the scopes of its places. */
export interface MemoryToSave {
  name: string;
  description: string;
  type: MemoryType | undefined;
  scope: MemoryScope;
  content: string;
}

/** Which memories an agent wants. */
export interface MemoryQuery {
  scope: MemoryScope | undefined;
  type: MemoryType | undefined;
  limit: number | undefined;
}

export interface FoundMemories {
  memories: readonly AgentMemory[];
  /** There are more. */
  isCut: boolean;
}

/** What memories are compared with. */
export interface Compared {
  /** The latest first. */
  texts: readonly string[];
  /** The memories that the model has been shown, by their keys. */
  known: ReadonlySet<string>;
}

/** Memories that may help with what a person wrote. */
export interface RelevantMemories {
  memories: readonly AgentMemory[];
  /** How many others the agent could search. */
  others: number;
}

/** The memories of agents. Each method throws GatewayError with words for the model. */
export interface MemorySource {
  placesIn(wsId: string): Promise<AgentPlaces>;
  /** `taint`: what the conversation has read; the memory then waits until a person has looked at it. */
  save(
    wsId: string,
    memory: MemoryToSave,
    from: { callId: string; taint: Taint | undefined },
  ): Promise<{ name: string; how: 'new' | 'replaced' | 'quarantined' }>;
  list(wsId: string, query: MemoryQuery): Promise<FoundMemories>;
  search(wsId: string, words: string, query: MemoryQuery): Promise<FoundMemories>;
  /** Returns the name as it was stored. */
  remove(wsId: string, name: string, scope: MemoryScope): Promise<string>;
  /** What runs of the workstream bring in unasked. */
  forRuns(wsId: string): RunMemories;
}

/** What a run brings in unasked. */
export interface RunMemories {
  /**
   * The memories nearest to what was written last, the nearest first, without the known ones; undefined if nothing is to be
   * brought in. `look` is called only if there are memories, because conversations are long.
   */
  relevant(look: () => Compared): Promise<RelevantMemories | undefined>;
  /** Whether the agent could find any. */
  any(): Promise<boolean>;
  /** How long after a reminder of its memory the model gets no other one for the same reason; undefined: it gets none. */
  nudgeCooldownMs(): number | undefined;
}

/** For runs that bring in none. */
export const NO_RUN_MEMORIES: RunMemories = {
  relevant: async () => undefined,
  any: async () => false,
  nudgeCooldownMs: () => undefined,
};

/** Another one after each change of the memory. */
export const memoryKey = ({ memoryId, version }: Pick<AgentMemory, 'memoryId' | 'version'>): string =>
  `${memoryId}@${version}`;
