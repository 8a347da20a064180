import { type ClosingName, findClosing } from '../closings.ts';
import type { ErrorCode } from '../errors.ts';
import type { ErrorShape } from '../frames.ts';

interface RequestErrorOptions extends Omit<Partial<ErrorShape>, 'code' | 'message'> {
  payload?: unknown;
}

/** A call refused by the daemon, or failed in the client itself (TIMEOUT, PAYLOAD_TOO_LARGE, BUSY). */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  /** Whether the same call can succeed later. Repeat it with the same idempotency key. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;
  /** A result in addition to the error, as from a failed `agent` run. */
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

/** The connection ended before the answer arrived, so it is unknown whether the call took effect. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
  /** The gateway's reason for closing the socket, for people; empty if it gave none. */
  readonly reason: string;
  /** The reason for programs; undefined if the gateway did not close the connection. */
  readonly closing: ClosingName | undefined;

  constructor(message: string, { code, reason = '' }: { code?: number; reason?: string } = {}) {
    super(message);
    this.reason = reason;
    this.closing = code === undefined ? undefined : findClosing(code, reason);
  }
}

/** There was no connection for a call that does not wait for one, so that nothing was sent. */
export class NotConnectedError extends ConnectionLostError {}
