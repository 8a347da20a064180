import type { GlobalEvent } from '../../../protocol/events/global.ts';

/** The events that a reader has not got yet: of each workstream, the latest of each kind. */
export interface Latest {
  /** Whether it replaced one. */
  put(event: GlobalEvent): boolean;
  size(): number;
  /** In order; empties it. */
  takeAll(): GlobalEvent[];
}

/** Bounded by the number of workstreams. The health counts as one more. */
export function createLatest(): Latest {
  const waiting = new Map<string, GlobalEvent>();
  return {
    put(event) {
      const { type } = event;
      const about = 'ws_id' in event ? event.ws_id : ''; // the health is that of the daemon
      const replaced = REPLACED[type].map((kind) => waiting.delete(`${kind} ${about}`));
      waiting.set(`${type} ${about}`, event); // at the end, also if it was there
      return replaced.includes(true);
    },
    size: () => waiting.size,
    takeAll() {
      const events = [...waiting.values()];
      waiting.clear();
      return events;
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
  health_changed: ['health_changed'],
};
