import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../protocol/contract.ts';
import { GatewayError } from '../../protocol/errors.ts';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { Principal } from '../gateway/auth/principal.ts';
import { holds } from '../gateway/rights.ts';
import { NoRoom } from '../gateway/workstreams/closing.ts';
import type { Log } from '../log.ts';
import { whenThere } from '../timing/when-there.ts';
import { type Exchange, failureAnswer, json, type Respond } from './exchange.ts';
import type { Gate } from './gate.ts';
import { type FieldNames, inFields } from './input/field-problems.ts';
import { lacksScope, type Statuses, toFailure, unauthorized } from './status.ts';

export interface GuardDeps extends FailDeps {
  gate: Gate;
  identify(req: IncomingMessage, endpoint: Endpoint): Principal | undefined | Promise<Principal | undefined>;
}

/** An endpoint's row and its handler, which runs once the caller is known and allowed. */
export interface Guarded {
  endpoint: Endpoint;
  /** `caller` is undefined only for public rows. Errors that it throws or rejects with become the answer. */
  work(exchange: Exchange, caller: Principal | undefined): unknown;
  fieldNames?: FieldNames | undefined;
  statuses?: Statuses | undefined;
}

/** The checks before every endpoint, whether it answers with JSON, a stream or bytes. */
export function guard(
  { endpoint, work, fieldNames, statuses }: Guarded,
  deps: GuardDeps,
): (exchange: Exchange) => void {
  const { gate, identify, respond, log } = deps;
  const failing: FailDeps = { respond, log, fieldNames, statuses };
  return (exchange) => {
    if (gate(exchange)) return;
    const serve = (principal: Principal | undefined) => work(exchange, admit(principal, endpoint.scope));
    attempt(exchange, () => whenThere(identify(exchange.req, endpoint), serve), failing);
  };
}

/** Runs a step of an exchange. Its error, synchronous or not, becomes the answer. */
export function attempt(exchange: Exchange, step: () => unknown, deps: FailDeps): void {
  try {
    const later = step();
    if (later instanceof Promise) later.catch((error: unknown) => fail(exchange, error, deps));
  } catch (error) {
    fail(exchange, error, deps);
  }
}

export interface FailDeps {
  respond: Respond;
  log: Log;
  /** Added to a 400: why fields that the caller sent may be missing. */
  hint?: string | undefined;
  /** Fields to add to the body, from the error's details. */
  refusal?: ((details: unknown) => Record<string, unknown>) | undefined;
  /** The reply instead of the refusal, from the error's details. */
  replyTo?: ((details: unknown) => unknown) | undefined;
  fieldNames?: FieldNames | undefined;
  statuses?: Statuses | undefined;
}

/** Answers with the error, if the client is still connected. */
export function fail(exchange: Exchange, error: unknown, deps: FailDeps): void {
  const { respond, log, hint, refusal, replyTo, fieldNames, statuses } = deps;
  const reply = error instanceof GatewayError && replyTo?.(error.details);
  if (reply) return void respond(exchange, json(200, reply));
  const { requestId } = exchange;
  const { status, body, headers } = toFailure(inFields(onLine(error, exchange), fieldNames), statuses);
  if (!(error instanceof GatewayError))
    log.error({ err: error, endpoint: exchange.endpoint, requestId }, 'a request failed');
  if (exchange.res.headersSent) exchange.res.destroy(); // too late for another answer
  const more = refusal && error instanceof GatewayError ? refusal(error.details) : {};
  respond(
    exchange,
    failureAnswer(exchange, {
      status,
      body: { ...body, ...more, ...(hint !== undefined && status === 400 && { hint }) },
      headers: status === 413 ? { ...headers, Connection: 'close' } : headers,
    }),
  );
}

/** At the limit of workstreams, the paths that name the workstream answer 429, and the others 400, as specified. */
const onLine = (error: unknown, { endpoint }: Exchange): unknown =>
  error instanceof NoRoom && endpoint.includes(LINE)
    ? new GatewayError('RATE_LIMITED', error.message, { cause: error, retryAfterMs: 5_000 })
    : error;

const LINE = '/workstreams/{ws_id}';

/** Returns the caller if it has the row's scope; throws the 401 and 403 of the specification. */
export function admit(principal: Principal | undefined, scope: Scope): Principal | undefined {
  if (scope === 'public') return principal;
  if (!holds(known(principal).scopes, scope)) throw lacksScope(scope);
  return principal;
}

/** The caller, where a row requires one. */
export function known(caller: Principal | undefined): Principal {
  if (caller === undefined) throw unauthorized();
  return caller;
}
