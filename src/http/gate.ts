import { FOREIGN, type OriginPolicy } from '../gateway/auth/origin-policy.ts';
import { problemOfHead } from '../gateway/auth/request-head.ts';
import { type Exchange, everyAnswer, failureAnswer, type HttpMetrics, type Respond } from './exchange.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Failure } from './status.ts';

export interface GateDeps {
  originPolicy: OriginPolicy;
  /** Without it, clients are not limited. */
  rateLimit?: RateLimit | undefined;
  metrics: Pick<HttpMetrics, 'rateLimited'>;
  respond: Respond;
}

/**
 * Answers requests with an unknown Host, from another site's page, or over the rate limit. Returns whether it answered.
 */
export type Gate = (exchange: Exchange) => boolean;

export function createGate(deps: GateDeps): Gate {
  return (exchange) => {
    const refusal = refusalOf(exchange, deps);
    if (refusal === undefined) return false;
    deps.respond(exchange, failureAnswer(exchange, refusal));
    return true;
  };
}

function refusalOf({ req, path }: Exchange, { originPolicy, rateLimit, metrics }: GateDeps): Failure | undefined {
  const { method = '', headers } = req;
  const problem = problemOfHead(req.rawHeaders);
  if (problem) return { status: problem.status, body: { error: problem.text } };
  const unknown = originPolicy.refusalOfHost(req);
  if (unknown)
    return {
      status: unknown.status,
      body: { error: unknown.error },
      ...(unknown.headers && { headers: unknown.headers }),
    };
  if (!originPolicy.admitsForeign(method, path) && originPolicy.isForeign(headers)) return forbidden(FOREIGN);
  const waitMs = rateLimit === undefined || method === 'OPTIONS' || UNLIMITED.has(path) ? 0 : rateLimit(req);
  if (waitMs === 0) return undefined;
  metrics.rateLimited();
  return tooManyRequests(waitMs);
}

const forbidden = (error: string): Failure => ({ status: 403, body: { error } });

/** Monitoring must always get through. */
const UNLIMITED = new Set(['/health', '/metrics', '/openapi.json', '/docs']);

/** `Retry-After` is fixed by the specification; the body has the exact wait in seconds. */
const tooManyRequests = (waitMs: number): Failure => ({
  status: 429,
  body: { error: 'Rate limit exceeded', retry_after: Math.ceil(waitMs / 100) / 10 },
  headers: { 'Retry-After': '2' },
});

/**
 * Answers every preflight the same way, word for word as specified, so the methods do not follow the verbs of the rows
 * (decision 44). What a foreign page may do is decided at the request itself.
 */
export function preflight(exchange: Exchange): void {
  const { res } = exchange;
  res.writeHead(200, {
    ...everyAnswer(exchange),
    'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'Content-Type',
    'Content-Length': 0,
  });
  res.end();
}
