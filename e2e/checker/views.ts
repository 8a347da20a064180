import { parseCursor } from '../../protocol/cursor.ts';
import type { GatewayEventPayload } from '../../protocol/events/gateway.ts';
import type { Result } from '../../protocol/index.ts';
import type { HistoryMessage, StreamEvent } from '../../protocol/stream-events.ts';
import { asLogged } from './as-logged.ts';
import type { Evidence, SocketFrame, SocketHistory, StreamFrame, StreamHistory } from './evidence.ts';

/** The events of one workstream that one reader received over one connection, and its starting position. */
export interface View {
  reader: string;
  wsId: string;
  opening: Opening;
  seen: { cursor: string; event: StreamEvent }[];
  /** Still connected when the evidence was taken. */
  isOpen: boolean;
}

type Truncation = Extract<StreamFrame['data'], { type: 'replay_truncated' }>;

/** The answer of the gateway to the subscription. */
export interface Opening {
  /** The cursor that the client sent. */
  asked: string | undefined;
  recovered: boolean | undefined;
  reason: string | undefined;
  /** Reports the loss; only on streams. */
  truncated?: Truncation | undefined;
  isOfStream: boolean;
  /** The position at which the events begin. */
  cursor: string | undefined;
  /** The conversation before that, if the stream was not resumed. */
  messages: HistoryMessage[];
  /** There are older messages, for which it is too long. */
  isCutShort: boolean;
}

export const viewsOf = ({ streams, sockets }: Evidence): View[] => [
  ...streams.flatMap((stream) => streamView(stream) ?? []),
  ...sockets.flatMap(socketViews),
];

/** Undefined until its opening is complete. */
function streamView({ reader, wsId, lastEventId, frames, isOpen }: StreamHistory): View | undefined {
  const { connected, truncated, history, rest } = beginningOf(frames);
  if (connected?.data.type !== 'connected' || history?.data.type !== 'history') return undefined;
  const { recovered, reason } = connected.data;
  const seen = rest.flatMap(({ id, data }, index) => {
    if (id === undefined) return []; // not in the log; the rule of openings checks them
    return [{ cursor: id, event: errorBefore(rest, index) ?? asLogged({ ...data }) }];
  });
  const { messages } = history.data;
  const isCutShort = 'truncated' in history.data && history.data.truncated === true;
  const shown = { cursor: history.id, messages, isCutShort };
  const opening = { asked: lastEventId, recovered, reason, truncated, isOfStream: true, ...shown };
  return { reader, wsId, opening, seen, isOpen };
}

/** The frames that a stream begins with, and the others. */
export function beginningOf([connected, ...later]: readonly StreamFrame[]) {
  const [first] = later;
  const truncated = first?.data.type === 'replay_truncated' ? first.data : undefined;
  const [history, ...rest] = truncated ? later.slice(1) : later;
  return { connected, truncated, history, rest };
}

/** In the log an error is one event; these streams send `error` and `state_change` to `idle`, and only the idle has the cursor. */
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
  const { cursor, recovered, reason, snapshot } = frame.payload as Result<'events.subscribe'>; // typed by its contract
  const { wsId, after } = subscribing;
  return {
    wsId,
    opening: {
      ...{ asked: after, recovered, reason, isOfStream: false, cursor },
      ...{ messages: snapshot?.messages ?? [], isCutShort: snapshot?.truncated ?? false },
    },
  };
}

function subscribingOf({ way, frame }: SocketFrame): Subscribing | undefined {
  if (way !== 'out' || frame.method !== 'events.subscribe') return undefined;
  const { wsId, after } = frame.params as { wsId: string; after?: string }; // as the recorder sent it
  return { id: frame.id, wsId, after };
}

function workstreamEventOf({ frame }: SocketFrame): GatewayEventPayload<'workstream'> | undefined {
  if (frame.type !== 'event' || frame.event !== 'workstream') return undefined;
  return frame.payload as GatewayEventPayload<'workstream'>; // typed by the event's row
}

export const offsetOf = (cursor: string | undefined): number => parseCursor(cursor)?.offset ?? -1;
export const epochOf = (cursor: string | undefined): string | undefined => parseCursor(cursor)?.epoch;

/** The position in the log that a view has reached. */
export const lastCursorOf = ({ opening, seen }: View): string | undefined => seen.at(-1)?.cursor ?? opening.cursor;
