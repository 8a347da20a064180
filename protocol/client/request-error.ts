import { type ClosingName, findClosing } from '../closings.ts';
import type { ErrorCode } from '../errors.ts';
import type { ErrorShape } from '../frames.ts';

interface RequestErrorOptions extends Omit<Partial<ErrorShape>, 'code' | 'message'> {
  payload?: unknown;
}

/** A call that was refused, by the daemon or (TIMEOUT, PAYLOAD_TOO_LARGE, BUSY) by the client before or instead of it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  /** Whether the same call can succeed later. Repeat it under the same idempotency key. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;
  /** A result that came beside the error, as from a failed `agent` run. */
  readonly payload: unknown;

  constructor(code: ErrorCode, message: string, options: RequestErrorOptions = {}) {
    super(message);
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.payload = options.payload;
  }
}

/** The transport died before the answer came: whether the call took effect is unknown. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
  /** Why the gateway closed the socket, where it said so: for people. */
  readonly reason: string;
  /** The same for programs; undefined when something else than the gateway ended the connection. */
  readonly closing: ClosingName | undefined;

  constructor(message: string, { code, reason = '' }: { code?: number; reason?: string } = {}) {
    super(message);
    this.reason = reason;
    this.closing = code === undefined ? undefined : findClosing(code, reason);
  }
}
