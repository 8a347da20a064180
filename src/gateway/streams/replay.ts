import { formatCursor } from '../../../protocol/cursor.ts';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { TransientEvent } from '../../../protocol/events/transient.ts';
import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
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
 * the others, and those that a call asked while it ran, are left out. Undefined for
 * a range that is too long to hold in memory for a client; it must be read from the log, as fast as the client reads.
 */
export async function replay(
  events: Pick<EventLog, 'epoch' | 'page'>,
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
  const isOver = (offset: number, id: string) => offset <= overUpTo || decided.has(id);
  const shown = new Set<string>();
  return parsed.flatMap(({ offset, event, text }) => {
    const isInfo = event.type === 'approve_request' && isOver(offset, event.approval_id);
    const told = isInfo ? toInfo(event, shown) : event;
    if (!told) return [];
    noteShown(told, shown);
    const id = formatCursor({ epoch: events.epoch, offset });
    return [{ id, json: isInfo ? JSON.stringify(told) : text }];
  });
}

function noteShown(event: StreamEvent, shown: Set<string>): void {
  if (event.type !== 'tool_info' && event.type !== 'approve_request') return;
  for (const { call_id } of event.items) shown.add(call_id);
}

/** The calls of a decided question; undefined if there are none that are not shown already. */
function toInfo(
  { kind, items, agent_id }: StreamEventOf<'approve_request'>,
  shown: ReadonlySet<string>,
): StreamEvent | undefined {
  if (kind !== 'tools' && kind !== 'outcome') return undefined; // no call follows
  const left = items.filter((item) => !isAskedWithin(item, shown));
  if (left.length === 0) return undefined;
  return { type: 'tool_info', items: left, ...(agent_id !== undefined && { agent_id }) };
}

/** Whether a call asked it while it ran: its card is there already. */
const isAskedWithin = ({ question, call_id }: ApprovalItem, shown: ReadonlySet<string>): boolean =>
  question !== undefined && shown.has(call_id);

/** The text of the latest turn in one frame without id; its other events follow, and those of earlier turns precede it unchanged. */
export function asSnapshot(wsId: string, frames: ReplayedFrame[]): { id?: string; json: string }[] {
  const parsed = frames.map((frame) => {
    const event: StreamEvent = JSON.parse(frame.json);
    return { frame, event };
  });
  const from = latestTurn(parsed.map(({ event }) => event));
  let content = '';
  let reasoning = '';
  const rest: ReplayedFrame[] = [];
  for (const { frame, event } of parsed.slice(from)) {
    if (event.type === 'content') content += event.text;
    else if (event.type === 'reasoning') reasoning += event.text;
    else rest.push(frame);
    if (event.type !== 'stream_end' || !event.interrupted) continue;
    content = ''; // void: it will be generated again
    reasoning = '';
  }
  const earlier = frames.slice(0, from);
  if (content === '' && reasoning === '') return [...earlier, ...rest];
  const snapshot: TransientEvent = { type: 'in_progress_snapshot', content, reasoning, ws_id: wsId };
  return [...earlier, { json: JSON.stringify(snapshot) }, ...rest];
}

/** Where the latest turn of the model begins: at an answer after one that is complete. */
function latestTurn(events: readonly StreamEvent[]): number {
  let from = 0;
  let isComplete = false;
  for (const [index, event] of events.entries()) {
    if (event.type === 'stream_end') isComplete = !event.interrupted;
    if (event.type !== 'thinking_start' || !isComplete) continue;
    from = index;
    isComplete = false;
  }
  return from;
}
