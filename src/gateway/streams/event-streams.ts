import type { GlobalEventOf } from '../../../protocol/events/global.ts';
import type { FollowOptions } from '../events/event-log.ts';
import type { LogReader } from '../events/log-reader.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { GlobalListener } from './global-events.ts';

/** A stream that is about to begin. */
export interface Opening {
  /** The `connected` frame as JSON text. Send it at once, because many clients send their message after it. */
  connected: string;
  /** For `follow`, which ends at once if the workstream was closed since then. */
  since: number;
  /**
   * The frames after it, which may take a moment (decision 3). Abort the signal when the client disconnects, to end the
   * wait.
   */
  begin(signal: AbortSignal): Promise<Beginning>;
}

/** How a client wants its stream to begin. */
export interface StreamRequest {
  viewer: Viewer;
  lastEventId?: string;
  resume: boolean;
  snapshot: boolean;
  /** The most messages of the first `history`; default: as many as fit. */
  history?: number;
}

/** The frames that a stream begins with, and where the log continues. */
export interface Beginning {
  /** In order. Frames with an id are log events, or replay them; the others are transient. */
  frames: { id?: string; json: string }[];
  /** Follow the log after this offset. */
  after: number;
}

/** Event streams of the HTTP interface (specification: http-and-sse, "Events"; decisions on catch-up and resume). */
export interface EventStreams {
  /** Throws NOT_FOUND `Unknown workstream`. */
  open(wsId: string, request: StreamRequest): Promise<Opening>;
  /**
   * Continues a stream. The reader ends when the workstream is closed (then `onEnd`). `mayDecide`: this reader may
   * answer approvals, so questions are asked.
   */
  follow(wsId: string, after: number, stream: FollowOptions & { onEnd(): void }): LogReader;
  /** The current state of every loaded workstream that the viewer perceives. */
  states(viewer: Viewer): GlobalEventOf<'ws_state'>[];
  /** Every later change of what the listener's viewer perceives. For each workstream and type, the latest replaces earlier ones. */
  onChange(listener: GlobalListener): () => void;
}
