/** One event of a log, encoded once for every reader. */
export interface LogEntry {
  offset: number;
  /** The event's JSON text. */
  json: string;
  /** `type` of the event, so that projections need not parse it. */
  type: string;
  /** The SSE frame (`id:` and `data:` lines), created on first use. */
  sse(): string;
  /** The unmasked WebSocket text frame of the `workstream` event, created on first use. */
  wsFrame(): Buffer;
}

/** Where a reader writes to: a socket or a response, which may be full. */
export interface Sink {
  /** False while the transport's buffer exceeds its budget; the reader then keeps only its cursor. */
  ready(): boolean;
  /** Accepts entries in log order; called only while `ready`. */
  write(entries: readonly LogEntry[]): void;
  /** A frame that is not in the log (`busy_error`, …), as JSON text; may be dropped when not ready, if it has no key. */
  transient?(json: string): void;
}

/** A cursor with a wake-up. A client that is behind costs no more than this. */
export interface LogReader {
  /** The sink has room again. */
  resume(): void;
  /** Idempotent. */
  close(): void;
  /** The offset of the last event written. */
  readonly offset: number;
}
