import type { FollowOptions } from '../events/event-log.ts';
import type { LogReader } from '../events/log-reader.ts';
import type { Viewer } from '../sharing/perception.ts';

/** How a stream begins. */
export interface OpenRequest {
  viewer: Viewer;
  lastEventId?: string;
  resume: boolean;
  snapshot: boolean;
}

/** Receives the states of what its viewer perceives. */
export interface StateListener {
  viewer: Viewer;
  onState(wsId: string, json: string): void;
  /** The viewer no longer perceives it; a state that was not delivered must not be. */
  onHidden(wsId: string): void;
}

/** A stream that is about to begin. */
export interface Opening {
  /** The `connected` frame as JSON text. Send it at once, because many clients send their message after it. */
  connected: string;
  /**
   * The frames after it, which may take a moment (decision 3). Abort the signal when the client disconnects, to end the
   * wait.
   */
  begin(signal: AbortSignal): Promise<Beginning>;
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
  open(wsId: string, request: OpenRequest): Promise<Opening>;
  /**
   * Continues a stream. The reader ends when the workstream is closed (then `onEnd`). `mayDecide`: this reader may
   * answer approvals, so questions are asked.
   */
  follow(wsId: string, after: number, stream: FollowOptions & { onEnd(): void }): LogReader;
  /** The current `ws_state` of every loaded workstream that the viewer perceives, as [wsId, JSON text]. */
  states(viewer: Viewer): [string, string][];
  /** Every later change; for each wsId, the latest replaces earlier ones. */
  onState(listener: StateListener): () => void;
}
