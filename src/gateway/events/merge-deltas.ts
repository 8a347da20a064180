import type { StoredEvent } from '../store/store.ts';

/** `text` of which event types may be joined, and what else has to be equal for it. */
const DELTAS: Record<string, { text: string; same?: string }> = {
  content: { text: 'text' },
  reasoning: { text: 'text' },
  tool_output_chunk: { text: 'chunk', same: 'call_id' },
};
/** A joined event stays well below every transport's budget. */
const MAX_CHARS = 32 * 1024;

/**
 * Joins neighbouring deltas for a reader that lags: same text, fewer events. A joined event has the offset of its last
 * part, so a cursor taken from it continues exactly.
 */
export function mergeDeltas(events: readonly StoredEvent[]): StoredEvent[] {
  const merged: StoredEvent[] = [];
  let open: { event: Record<string, unknown>; offset: number } | undefined;
  const flush = () => {
    if (open) merged.push({ offset: open.offset, json: JSON.stringify(open.event) });
    open = undefined;
  };
  for (const { offset, json } of events) {
    const event: Record<string, unknown> = JSON.parse(json);
    if (open && joined(open.event, event)) {
      open.offset = offset;
      continue;
    }
    flush();
    if (typeof event['type'] === 'string' && event['type'] in DELTAS) open = { event, offset };
    else merged.push({ offset, json });
  }
  flush();
  return merged;
}

/** Appends `next` to `event` in place where they belong together. */
function joined(event: Record<string, unknown>, next: Record<string, unknown>): boolean {
  const rule = DELTAS[String(event['type'])];
  if (!rule || next['type'] !== event['type']) return false;
  if (rule.same !== undefined && next[rule.same] !== event[rule.same]) return false;
  const text = `${event[rule.text]}${next[rule.text]}`;
  if (text.length > MAX_CHARS) return false;
  event[rule.text] = text;
  return true;
}
