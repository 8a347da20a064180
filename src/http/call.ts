import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../../protocol/errors.ts';
import { type Endpoint, hasBody } from '../../protocol/http/endpoint.ts';
import type { ClientAddress } from '../gateway/auth/client-address.ts';
import { isLoopbackHost } from '../gateway/auth/origin-policy.ts';
import type { Principal } from '../gateway/auth/principal.ts';
import type { Dispatch } from '../gateway/dispatch.ts';
import { NO_PERMISSIONS } from '../gateway/users/grant.ts';
import { whenThere } from '../timing/when-there.ts';
import type { Binding, Via } from './bind.ts';
import { cookieOf } from './cookie.ts';
import { type Exchange, empty, json } from './exchange.ts';
import { attempt, type FailDeps, fail, type Guarded, known } from './guard.ts';
import { isMultipart, readBody, UNREADABLE } from './input/body.ts';
import { keyOf, queryOf, read } from './input/fields.ts';
import type { ReadForm, WithForm } from './input/form.ts';
import type { AdmitBody } from './input/large-bodies.ts';

export interface CallDeps extends Pick<FailDeps, 'respond' | 'log'> {
  dispatch: Dispatch;
  clientAddress: ClientAddress;
  /** Aborts when the client's connection closes. */
  disconnectSignalOf(socket: Socket): AbortSignal;
  /** For endpoints with large bodies. */
  admitBody: AdmitBody;
  /** For endpoints that accept forms. */
  withForm: WithForm;
}

/** The fields of a request, and the files of a form. */
type Input = Pick<ReadForm, 'input'> & Partial<ReadForm>;

/** An endpoint backed by a gateway method: reads the input, renames it, dispatches, renames the result and answers. */
export function callOf(binding: Binding, deps: CallDeps): Guarded {
  const { endpoint, method } = binding;
  const statusOf = toStatusOf(binding);
  const hasFields = endpoint.path.includes('{');
  const { respond, log } = deps;
  const { refusal, replyTo, fieldNames, statuses } = binding;
  const plain: FailDeps = { respond, log, refusal, replyTo, fieldNames, statuses };

  /** Redirects a refusal where the row says so. */
  function askOrSend(exchange: Exchange, caller: Principal | undefined): unknown {
    const { refusedTo } = binding;
    if (refusedTo === undefined) return ask(exchange, caller, { input: queryOf(exchange) });
    return (async () => ask(exchange, caller, { input: queryOf(exchange) }))().catch((error: unknown) => {
      const headers = error instanceof GatewayError ? refusedTo(error, viaOf(exchange)) : undefined;
      if (headers === undefined) throw error;
      respond(exchange, empty(302, headers));
    });
  }

  const hinting: FailDeps = { respond, log, hint: HINT, fieldNames, statuses };

  function ask(exchange: Exchange, caller: Principal | undefined, { input, fileIds }: Input): unknown {
    const { req, fields } = exchange;
    // The generic seam: `bind` has checked that these types fit.
    const request = read(endpoint, hasFields ? { ...input, ...fields } : input) as never;
    const renamed = binding.params(request, viaOf(exchange));
    const answered = deps.dispatch(method, withMore(renamed, { idempotencyKey: keyFor(endpoint, req), fileIds }), {
      principal: binding.asDaemon ? DAEMON : caller,
      signal: deps.disconnectSignalOf(req.socket),
      address: deps.clientAddress(req),
      requestId: exchange.requestId,
      traceparent: traceparentOf(req),
      interim: () => undefined, // HTTP has one answer per request
      subscriptions: undefined,
    });
    return whenThere(answered, (result) => reply(exchange, result as never, request));
  }

  function reply(exchange: Exchange, result: never, request: never): void {
    const headers = binding.headers?.(result, viaOf(exchange));
    const status = statusOf(result);
    const isEmpty = status === 204 || status === 302;
    respond(exchange, isEmpty ? empty(status, headers) : json(status, binding.reply(result, request), headers));
  }

  return {
    endpoint,
    fieldNames,
    statuses,
    work(exchange, caller) {
      const { req } = exchange;
      if (!hasBody(endpoint.verb) && !endpoint.bodyToo) return askOrSend(exchange, caller);
      const query = endpoint.bodyToo && queryOf(exchange);
      if (endpoint.formToo && isMultipart(req.headers['content-type']))
        return deps.withForm(req, known(caller), (form) => ask(exchange, caller, form));
      if (endpoint.jsonOnly && isMultipart(req.headers['content-type'])) throw noForm();
      if (endpoint.bodyBytes !== undefined) deps.admitBody(req, exchange.res);
      readBody(req, {
        most: endpoint.bodyBytes,
        take(input) {
          if (input === UNREADABLE && endpoint.strictBody) return fail(exchange, notJson(), plain);
          const fields = query ? { ...query, ...input } : input;
          attempt(exchange, () => ask(exchange, caller, { input: fields }), input === UNREADABLE ? hinting : plain);
        },
        fail: (error) => fail(exchange, error, plain),
      });
      return undefined;
    },
  };
}

const viaOf = ({ req }: Exchange): Via => ({
  loopback: isLoopbackHost(req.headers.host),
  cookieOf: (name) => cookieOf(req, name),
});

function toStatusOf({ endpoint: { status }, isNew }: Binding): (result: never) => number {
  if (status !== '200 or 201') return () => status ?? 200;
  return (result) => (isNew?.(result) ? 201 : 200);
}

const noForm = () =>
  new GatewayError('INVALID_REQUEST', 'Content-Type: multipart/form-data is not supported here; send JSON');

const notJson = () => new GatewayError('INVALID_REQUEST', 'Invalid JSON body');

const HINT = 'the body is not a JSON object, so it was treated as an empty object';

/** The type allows a list, as for most headers, but Node joins repeated ones. */
const traceparentOf = ({ headers: { traceparent } }: IncomingMessage): string | undefined =>
  typeof traceparent === 'string' ? traceparent : undefined;

/** The daemon calling itself, for public endpoints whose method requires a scope. */
const DAEMON: Principal = {
  id: 'daemon',
  scopes: new Set(['read']),
  permissions: NO_PERMISSIONS,
  source: { kind: 'local' },
  ended: new AbortController().signal,
};

const keyFor = (endpoint: Endpoint, req: IncomingMessage): string | undefined => endpoint.idempotencyKey && keyOf(req);

/** Params of the method that no field of the request has. */
interface More {
  idempotencyKey: string | undefined;
  fileIds: readonly string[] | undefined;
}

function withMore(params: unknown, { idempotencyKey, fileIds }: More): unknown {
  if (idempotencyKey === undefined && fileIds === undefined) return params;
  return {
    ...(params as object),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(fileIds && { fileIds }),
  };
}
