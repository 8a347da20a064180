/** One event of a log, encoded once for every reader. */
export interface LogEntry {
  offset: number;
  /** The event's JSON text. */
  json: string;
  /** `type` of the event, for folding without parsing. */
  type: string;
  /** A prebuilt SSE frame (`id:` and `data:` lines), made when first asked for. */
  sse(): string;
  /** A prebuilt unmasked WebSocket text frame of the `workstream` event, made when first asked for. */
  wsFrame(): Buffer;
}

/** Where a reader writes to: a socket or a response, seen as something that can be full. */
export interface Sink {
  /** False while the transport's buffer is over its budget; the reader then keeps only its cursor. */
  ready(): boolean;
  /** Takes entries in log order; called only while `ready`. */
  write(entries: readonly LogEntry[]): void;
  /** A frame that is not in the log (`busy_error`, …), as JSON text; may be dropped when not ready. */
  transient?(json: string): void;
}

/** A cursor with a wake-up: everything a client costs while it is behind. */
export interface LogReader {
  /** The sink can take more again. */
  resume(): void;
  /** Idempotent. */
  close(): void;
  /** The offset written last. */
  readonly offset: number;
}
