/** Every error code of a `res` frame, and whether a retry can succeed. */
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
  UPSTREAM_FAILED: { retryable: true },
  TIMEOUT: { retryable: true },
  AGENT_TIMEOUT: { retryable: false },
  OUTPUT_MISMATCH: { retryable: false },
  NOT_PAIRED: { retryable: false },
  NOT_LINKED: { retryable: false },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

/** A row of ERROR_CODES. */
export type ErrorCode = keyof typeof ERROR_CODES;

interface GatewayErrorOptions {
  details?: unknown;
  /** Default: that of its code. False if the outcome is stored, so that a repeat only gets it again. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** A result in addition to the error, as `agent` returns both for a failed run. */
  payload?: unknown;
  cause?: unknown;
}

/** The only error whose message reaches a client. Anything else is reported as `INTERNAL`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly details: unknown;
  /** Whether a retry can succeed. */
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
