import type { NodeEvent } from '../../../protocol/events/cluster.ts';
import type { GlobalEvent } from '../../../protocol/events/global.ts';

/** What a stream of changes can show. */
export type Change = GlobalEvent | NodeEvent;

/** The events that a reader has not got yet: of each workstream and each machine, the latest of each kind. */
export interface Latest {
  /** Whether it replaced one. */
  put(event: Change): boolean;
  size(): number;
  /** In order; empties it. */
  takeAll(): Change[];
}

/** Bounded by the number of workstreams and machines. The health counts as one more. */
export function createLatest(): Latest {
  const waiting = new Map<string, Change>();
  return {
    put(event) {
      const { type } = event;
      const about = aboutOf(event);
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

/** The health is that of the daemon. */
const aboutOf = (event: Change): string => ('ws_id' in event ? event.ws_id : 'node_id' in event ? event.node_id : '');

/** What an event makes obsolete. A state contains the activity, and after a closing nothing counts any more. */
const REPLACED: Record<Change['type'], readonly Change['type'][]> = {
  ws_state: ['ws_state', 'ws_activity'],
  ws_activity: ['ws_activity'],
  ws_rename: ['ws_rename'],
  ws_created: ['ws_created', 'ws_closed'],
  ws_closed: ['ws_closed', 'ws_created', 'ws_state', 'ws_activity', 'ws_rename'],
  health_changed: ['health_changed'],
  node_joined: ['node_joined', 'node_lost'],
  node_lost: ['node_joined', 'node_lost'],
};
