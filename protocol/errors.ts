/** Every error code a `res` frame may carry, and whether trying again later can succeed. */
export const ERROR_CODES = {
  INVALID_REQUEST: { retryable: false },
  UNAUTHORIZED: { retryable: false },
  FORBIDDEN: { retryable: false },
  NOT_FOUND: { retryable: false },
  CONFLICT: { retryable: false },
  BUSY: { retryable: true },
  RATE_LIMITED: { retryable: true },
  PAYLOAD_TOO_LARGE: { retryable: false },
  UNAVAILABLE: { retryable: true },
  TIMEOUT: { retryable: true },
  AGENT_TIMEOUT: { retryable: false },
  NOT_PAIRED: { retryable: false },
  NOT_LINKED: { retryable: false },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

/** A row of ERROR_CODES. */
export type ErrorCode = keyof typeof ERROR_CODES;

interface GatewayErrorOptions {
  details?: unknown;
  /** Default: as for its code. False where the outcome is stored, so that the same call only hears it again. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** A result that goes beside the error, as `agent` answers a failed run with both. */
  payload?: unknown;
  cause?: unknown;
}

/** The only error whose message reaches a client. Anything else is reported as `INTERNAL`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly details: unknown;
  /** Trying again later can succeed. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly payload: unknown;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.payload = options.payload;
  }
}
