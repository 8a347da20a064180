/**
 * How a call of a chat service failed.
 * `unauthorized`: the token is wrong; final. `conflict`: another program receives the messages. `rate-limited`: wait
 * `retryAfterMs`. `rejected`: the service refused this request. `too-large`: a file is over the limit. `unreachable`: the
 * service certainly did not receive the request. `ambiguous`: the request may have been carried out.
 */
export type ServiceErrorKind =
  | 'unauthorized'
  | 'conflict'
  | 'rate-limited'
  | 'rejected'
  | 'too-large'
  | 'unreachable'
  | 'ambiguous';

export interface ServiceErrorDetails {
  /** The code of the service. */
  code?: number | undefined;
  /** For `rate-limited`. */
  retryAfterMs?: number | undefined;
}

/** Why a call of a chat service failed. Never contains a token: it has no cause, because causes repeat addresses. */
export class ServiceError extends Error {
  readonly kind: ServiceErrorKind;
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: ServiceErrorKind, message: string, { code, retryAfterMs }: ServiceErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
