import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type Delta, isDelta, mergeDeltas } from '../store/merge-deltas.ts';
import type { StoredEvent } from '../store/store.ts';

/**
 * Joins adjacent deltas for a reader that lags: same text, fewer events. A joined event has the offset of its last
 * part, so its cursor continues at the right place.
 */
export function joinDeltas(events: readonly StoredEvent[]): StoredEvent[] {
  const joined: StoredEvent[] = [];
  let open: { delta: Delta; offset: number } | undefined;
  const flush = () => {
    if (open) joined.push({ offset: open.offset, json: JSON.stringify(open.delta) });
    open = undefined;
  };
  for (const { offset, json } of events) {
    const event: StreamEvent = JSON.parse(json);
    const delta = isDelta(event) ? event : undefined;
    const merged = open && delta && mergeDeltas(open.delta, delta);
    if (!merged) flush();
    if (delta) open = { delta: merged ?? delta, offset };
    else joined.push({ offset, json });
  }
  flush();
  return joined;
}
