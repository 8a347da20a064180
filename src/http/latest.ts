import type { GlobalEvent } from '../../protocol/events/global.ts';

/** The events that a reader has not got yet: of each workstream, the latest of each kind. */
export interface Latest {
  /** Whether it replaced one. */
  put(event: GlobalEvent): boolean;
  size(): number;
  /** As JSON texts, in order; empties it. */
  takeAll(): string[];
}

/** Bounded by the number of workstreams. */
export function createLatest(): Latest {
  const waiting = new Map<string, GlobalEvent>();
  return {
    put(event) {
      const { ws_id, type } = event;
      const replaced = REPLACED[type].map((kind) => waiting.delete(`${kind} ${ws_id}`));
      waiting.set(`${type} ${ws_id}`, event); // at the end, also if it was there
      return replaced.includes(true);
    },
    size: () => waiting.size,
    takeAll() {
      const texts = [...waiting.values()].map((event) => JSON.stringify(event));
      waiting.clear();
      return texts;
    },
  };
}

/** What an event makes obsolete. A state contains the activity, and after a closing nothing counts any more. */
const REPLACED: Record<GlobalEvent['type'], readonly GlobalEvent['type'][]> = {
  ws_state: ['ws_state', 'ws_activity'],
  ws_activity: ['ws_activity'],
  ws_rename: ['ws_rename'],
  ws_created: ['ws_created', 'ws_closed'],
  ws_closed: ['ws_closed', 'ws_created', 'ws_state', 'ws_activity', 'ws_rename'],
};
