import type { LogReader, Sink } from '../events/log-reader.ts';

/** A stream that is about to begin. */
export interface Opening {
  /** The `connected` frame as JSON text: to be sent at once, for many clients send their message when they have it. */
  connected: string;
  /** What follows it. That may take a moment (decision 3); aborting the signal, because the client left, ends the wait. */
  begin(signal: AbortSignal): Promise<Beginning>;
}

/** What a stream begins with, and from where the log goes on. */
export interface Beginning {
  /** In order; those with an id are (or replay) log events, the rest are transient. */
  frames: { id?: string; json: string }[];
  /** Follow the log after this offset. */
  after: number;
}

/** Event streams as the HTTP interface offers them (spec http-and-sse, "Events"; decisions on catch-up and resume). */
export interface EventStreams {
  /** Throws NOT_FOUND `Unknown workstream`. */
  open(wsId: string, request: { lastEventId?: string; resume: boolean; snapshot: boolean }): Promise<Opening>;
  /**
   * Continues a stream; the reader ends by itself when the workstream is closed (then `onEnd`). `mayDecide`: whoever
   * reads may answer questions, so they are asked.
   */
  follow(wsId: string, after: number, stream: { sink: Sink; onEnd(): void; mayDecide?: boolean }): LogReader;
  /** The current `ws_state` of every loaded workstream, as [wsId, JSON text]. */
  states(): [string, string][];
  /** Every later change; latest wins per wsId. */
  onState(listener: (wsId: string, json: string) => void): () => void;
}
