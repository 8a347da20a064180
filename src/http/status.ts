import { findWaiting } from '../../protocol/cluster/machine-labels.ts';
import { type ErrorCode, GatewayError } from '../../protocol/errors.ts';
import { findStepUp } from '../../protocol/methods/accounts/step-up.ts';
import { toWaiting } from './routes/waiting.ts';

const STATUS: Record<ErrorCode, number> = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  BUSY: 409,
  RATE_LIMITED: 429,
  PAYLOAD_TOO_LARGE: 413,
  UNAVAILABLE: 503,
  UPSTREAM_FAILED: 502,
  TIMEOUT: 504,
  AGENT_TIMEOUT: 504,
  OUTPUT_MISMATCH: 502,
  NOT_PAIRED: 403,
  NOT_LINKED: 409,
  INTERNAL: 500,
};

/** Statuses of refusals, where they differ from the usual ones. */
export type Statuses = Readonly<Partial<Record<ErrorCode, number>>>;

/** An error as HTTP answers it; the body also gets the id of the request (`failureAnswer`). */
export interface Failure {
  status: number;
  /** `code`: for refusals that a program can lift by another request. */
  body: { error: string; code?: string; [field: string]: unknown };
  headers?: HeaderFields;
}

/** Converts an error to an HTTP answer. The details of anything but a GatewayError are not disclosed. */
export function toFailure(error: unknown, statuses: Statuses = {}): Failure & { headers: HeaderFields } {
  if (!(error instanceof GatewayError)) return { status: 500, body: { error: 'Internal error' }, headers: {} };
  const headers: HeaderFields = {};
  if (error.code === 'UNAUTHORIZED') headers['WWW-Authenticate'] = 'Bearer';
  if (error.retryAfterMs !== undefined) headers['Retry-After'] = `${Math.max(1, Math.ceil(error.retryAfterMs / 1000))}`;
  const code = findStepUp(error.details)?.reason;
  const waits = toWaiting({ waiting: findWaiting(error.details) });
  const body = { error: error.message, ...(code !== undefined && { code }), ...waits };
  return { status: statuses[error.code] ?? STATUS[error.code], body, headers };
}

/** A list stands for a header that is repeated. */
export type HeaderFields = Record<string, string | string[]>;

export const unauthorized = () => new GatewayError('UNAUTHORIZED', 'Unauthorized: missing or invalid token');
export const lacksScope = (scope: string) => new GatewayError('FORBIDDEN', `Forbidden: token lacks '${scope}' scope`);
