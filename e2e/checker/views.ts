import { parseCursor } from '../../protocol/cursor.ts';
import type { GatewayEventPayload } from '../../protocol/events/gateway.ts';
import type { Result } from '../../protocol/index.ts';
import type { HistoryMessage, StreamEvent } from '../../protocol/stream-events.ts';
import type { Evidence, SocketFrame, SocketHistory, StreamFrame, StreamHistory } from './evidence.ts';

/** What one reader saw of one workstream over one connection: where it began, and the events that followed. */
export interface View {
  reader: string;
  wsId: string;
  opening: Opening;
  seen: { cursor: string; event: StreamEvent }[];
  /** Still connected when the evidence was taken. */
  isOpen: boolean;
}

/** How the gateway answered the wish to read. */
export interface Opening {
  /** The cursor that the client named. */
  asked: string | undefined;
  recovered: boolean | undefined;
  reason: string | undefined;
  /** Where the events that follow begin. */
  cursor: string | undefined;
  /** The conversation before that, when it was not continued. */
  messages: HistoryMessage[];
}

export const viewsOf = ({ streams, sockets }: Evidence): View[] => [
  ...streams.flatMap((stream) => streamView(stream) ?? []),
  ...sockets.flatMap(socketViews),
];

/** Undefined while its opening is not whole. */
function streamView({ reader, wsId, lastEventId, frames, isOpen }: StreamHistory): View | undefined {
  const [connected, history, ...rest] = frames;
  if (connected?.data.type !== 'connected' || history?.data.type !== 'history') return undefined;
  const { recovered, reason } = connected.data;
  const seen = rest.flatMap(({ id, data }, index) => {
    if (id === undefined) return []; // not of the log; the rule of openings looks at them
    return [{ cursor: id, event: errorBefore(rest, index) ?? (data as StreamEvent) }];
  });
  const opening = { asked: lastEventId, recovered, reason, cursor: history.id, messages: history.data.messages };
  return { reader, wsId, opening, seen, isOpen };
}

/** The log's error that these streams follow by an idle, which has its cursor: `error`, `state_change`, `idle`. */
function errorBefore(frames: readonly StreamFrame[], index: number): StreamEvent | undefined {
  const [error, change, idle] = frames.slice(Math.max(0, index - 2), index + 1);
  const isIdle = idle?.data.type === 'ws_state' && idle.data.state === 'idle' && idle.data.run === undefined;
  if (!isIdle || change?.data.type !== 'state_change' || error?.id !== undefined) return undefined;
  return error?.data.type === 'ws_state' && error.data.state === 'error' ? error.data : undefined;
}

/** One view per answered `events.subscribe`. */
function socketViews({ reader, frames, isOpen }: SocketHistory): View[] {
  const asked = new Map<string, Subscribing>();
  const current = new Map<string, View>();
  const views: View[] = [];
  for (const sent of frames) {
    const subscribing = subscribingOf(sent);
    if (subscribing) asked.set(subscribing.id, subscribing);
    const event = workstreamEventOf(sent);
    if (event) current.get(event.wsId)?.seen.push(event);
    const answered = answerTo(asked, sent);
    if (!answered) continue;
    const view = { reader, ...answered, seen: [], isOpen };
    current.set(view.wsId, view);
    views.push(view);
  }
  return views;
}

interface Subscribing {
  id: string;
  wsId: string;
  after: string | undefined;
}

function answerTo(
  asked: ReadonlyMap<string, Subscribing>,
  { way, frame }: SocketFrame,
): Pick<View, 'wsId' | 'opening'> | undefined {
  const subscribing = way === 'in' && frame.type === 'res' && frame.ok ? asked.get(frame.id) : undefined;
  if (!subscribing || frame.type !== 'res') return undefined;
  const { cursor, recovered, reason, snapshot } = frame.payload as Result<'events.subscribe'>; // by its contract
  const { wsId, after } = subscribing;
  return { wsId, opening: { asked: after, recovered, reason, cursor, messages: snapshot?.messages ?? [] } };
}

function subscribingOf({ way, frame }: SocketFrame): Subscribing | undefined {
  if (way !== 'out' || frame.method !== 'events.subscribe') return undefined;
  const { wsId, after } = frame.params as { wsId: string; after?: string }; // as the recorder sent it
  return { id: frame.id, wsId, after };
}

function workstreamEventOf({ frame }: SocketFrame): GatewayEventPayload<'workstream'> | undefined {
  if (frame.type !== 'event' || frame.event !== 'workstream') return undefined;
  return frame.payload as GatewayEventPayload<'workstream'>; // by the event's row
}

export const offsetOf = (cursor: string | undefined): number => parseCursor(cursor)?.offset ?? -1;
export const epochOf = (cursor: string | undefined): string | undefined => parseCursor(cursor)?.epoch;

/** The place in the log that a view has come to. */
export const lastCursorOf = ({ opening, seen }: View): string | undefined => seen.at(-1)?.cursor ?? opening.cursor;
