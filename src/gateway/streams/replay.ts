import { formatCursor } from '../../../protocol/cursor.ts';
import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { EventLog } from '../events/event-log.ts';
import { joinDeltas } from '../events/join-deltas.ts';

const PAGE = 512;

export interface ReplayedFrame {
  id: string;
  json: string;
}

export interface ReplayRange {
  after: number;
  upTo: number;
  /** A longer range is not replayed. */
  maxChars: number;
  /** All questions up to this offset have been decided. */
  overUpTo?: number | undefined;
}

/**
 * A range of a log as ordinary events with their own ids. Decided questions about calls are replayed as `tool_info`,
 * the others are left out. Undefined for
 * a range that is too long to hold in memory for a client; it must be read from the log, as fast as the client reads.
 */
export async function replay(
  events: EventLog,
  wsId: string,
  { after, upTo, maxChars, overUpTo = 0 }: ReplayRange,
): Promise<ReplayedFrame[] | undefined> {
  const stored = [];
  let chars = 0;
  for (let offset = after; offset < upTo; ) {
    const page = await events.page(wsId, offset, Math.min(PAGE, upTo - offset));
    if (page.length === 0) break;
    stored.push(...page);
    chars = page.reduce((sum, { json: text }) => sum + text.length, chars);
    if (chars > maxChars) return undefined;
    offset = page.at(-1)?.offset ?? upTo;
  }
  const decided = new Set<string>();
  const parsed = joinDeltas(stored).map(({ offset, json: text }) => {
    const event: StreamEvent = JSON.parse(text);
    if (event.type === 'approval_resolved') decided.add(event.approval_id);
    return { offset, event, text };
  });
  return parsed.flatMap(({ offset, event, text }) => {
    const id = formatCursor({ epoch: events.epoch, offset });
    if (event.type !== 'approve_request' || (offset > overUpTo && !decided.has(event.approval_id))) {
      return [{ id, json: text }];
    }
    if (event.kind !== 'tools' && event.kind !== 'outcome') return []; // no call follows
    return [{ id, json: JSON.stringify({ type: 'tool_info', items: event.items } satisfies StreamEvent) }];
  });
}

/** The text of the turn in one frame without id; its other events follow unchanged. */
export function asSnapshot(wsId: string, turn: ReplayedFrame[]): { id?: string; json: string }[] {
  let content = '';
  let reasoning = '';
  const rest: ReplayedFrame[] = [];
  for (const { id, json: text } of turn) {
    const event: StreamEvent = JSON.parse(text);
    if (event.type === 'content') content += event.text;
    else if (event.type === 'reasoning') reasoning += event.text;
    else rest.push({ id, json: text });
    if (event.type !== 'stream_end' || !event.interrupted) continue;
    content = ''; // void: it will be generated again
    reasoning = '';
  }
  if (content === '' && reasoning === '') return rest;
  const snapshot: TransientEvent = { type: 'in_progress_snapshot', content, reasoning, ws_id: wsId };
  return [{ json: JSON.stringify(snapshot) }, ...rest];
}
