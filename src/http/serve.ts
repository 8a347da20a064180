import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { z } from 'zod';
import type { Scope } from '../../protocol/contract.ts';
import { GatewayError } from '../../protocol/errors.ts';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import { check, problemsOf } from '../../protocol/parse.ts';
import type { ClientAddress } from '../gateway/auth/client-address.ts';
import { isLoopbackHost } from '../gateway/auth/origin-policy.ts';
import type { Principal } from '../gateway/auth/principal.ts';
import type { Dispatch } from '../gateway/dispatch.ts';
import { holds } from '../gateway/rights.ts';
import type { Log } from '../log.ts';
import type { Binding } from './bind.ts';
import { isMultipart, readBody, UNREADABLE } from './body.ts';
import { type Exchange, json, type Respond } from './exchange.ts';
import { inFields } from './field-problems.ts';
import { lacksScope, toFailure, unauthorized } from './status.ts';
import { halfSurrogate, holdsEncodedSurrogate } from './surrogates.ts';

const MAX_KEY_LENGTH = 256;

export interface ServeDeps {
  dispatch: Dispatch;
  clientAddress: ClientAddress;
  identify(req: IncomingMessage): Promise<Principal | undefined>;
  respond: Respond;
  /** Aborts when the client's connection closes. */
  goneSignalOf(socket: Socket): AbortSignal;
  log: Log;
}

/** Identify, read, rename, dispatch, rename, answer. Every JSON endpoint is this function. */
export function serve(binding: Binding, deps: ServeDeps): (exchange: Exchange) => Promise<void> {
  const { endpoint, method } = binding;
  return async (exchange) => {
    const { req } = exchange;
    let input: Record<string, unknown> | undefined;
    try {
      const caller = admit(await deps.identify(req), endpoint.scope);
      if (endpoint.jsonOnly && isMultipart(req.headers['content-type'])) throw noForm();
      input = endpoint.verb === 'post' ? await readBody(req) : queryOf(exchange);
      // The generic seam: `bind` has checked that these fit together.
      const renamed = binding.params(read(endpoint, input) as never);
      const result = (await deps.dispatch(method, withKey(renamed, endpoint, req), {
        principal: binding.asDaemon ? DAEMON : caller,
        signal: deps.goneSignalOf(req.socket),
        address: deps.clientAddress(req),
        interim: () => undefined, // over HTTP there is one answer
        subscriptions: undefined,
      })) as never;
      const headers = binding.headers?.(result, { loopback: isLoopbackHost(req.headers.host) });
      deps.respond(exchange, json(200, binding.reply(result), headers));
    } catch (error) {
      fail(exchange, inFields(error), { ...deps, hint: input === UNREADABLE ? HINT : undefined });
    }
  };
}

const noForm = () =>
  new GatewayError('INVALID_REQUEST', 'Content-Type: multipart/form-data is not supported here; send JSON');

const HINT = 'the body is no JSON object, so it counted as an empty one';

interface FailDeps extends Pick<ServeDeps, 'respond' | 'log'> {
  /** Said beside a 400: why something may be missing from what the caller did send. */
  hint?: string | undefined;
}

/** Answers with the error, if the client is still there to read it. */
export function fail(exchange: Exchange, error: unknown, { respond, log, hint }: FailDeps): void {
  const { status, body, headers } = toFailure(error);
  if (!(error instanceof GatewayError)) log.error({ err: error, endpoint: exchange.endpoint }, 'a request failed');
  if (exchange.res.headersSent) exchange.res.destroy(); // too late to say anything
  const told = hint !== undefined && status === 400 ? { ...body, hint } : body;
  respond(exchange, json(status, told, status === 413 ? { ...headers, Connection: 'close' } : headers));
}

/** The caller as far as the row's scope wants one; throws the specification's 401 and 403. */
export function admit(principal: Principal | undefined, scope: Scope): Principal | undefined {
  if (scope === 'public') return principal;
  if (principal === undefined) throw unauthorized();
  if (!holds(principal.scopes, scope)) throw lacksScope(scope);
  return principal;
}

/** Request fields as the row reads them; the error names the fields and repeats nothing of the input. */
export function read<E extends Endpoint>(endpoint: E, input: unknown): z.output<E['request']> {
  const parsed = check(endpoint.request, input);
  if (parsed.success) return parsed.data as z.output<E['request']>;
  throw new GatewayError('INVALID_REQUEST', problemsOf(parsed.error));
}

/** Bytes that are not UTF-8 would be replaced silently, and the call would be about another text. */
export function queryOf({ query }: Exchange): Record<string, string> {
  if (query === '') return {};
  const bytes = unescaped(query);
  if (holdsEncodedSurrogate(bytes)) throw halfSurrogate('query');
  if (!isUtf8(bytes)) throw new GatewayError('INVALID_REQUEST', 'The query is not UTF-8. Percent-encode UTF-8 text.');
  return Object.fromEntries(new URLSearchParams(query));
}

const unescaped = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

/** Calls of the daemon to itself, for endpoints that are public although their method is not. */
const DAEMON: Principal = {
  id: 'daemon',
  scopes: new Set(['read']),
  source: { kind: 'local' },
  revoked: new AbortController().signal,
};

function withKey(params: unknown, endpoint: Endpoint, req: IncomingMessage): unknown {
  const key = endpoint.idempotencyKey && keyOf(req);
  return key === undefined ? params : { ...(params as object), idempotencyKey: key };
}

/** The `Idempotency-Key` of a request. Throws INVALID_REQUEST. */
export function keyOf(req: IncomingMessage): string | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) {
    throw new GatewayError('INVALID_REQUEST', `Idempotency-Key: must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  return key;
}
