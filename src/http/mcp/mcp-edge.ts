import { pipeline } from 'node:stream/promises';
import type { Authenticator } from '../../gateway/auth/authenticator.ts';
import type { ClientAddress } from '../../gateway/auth/client-address.ts';
import type { OriginPolicy } from '../../gateway/auth/origin-policy.ts';
import type { Principal } from '../../gateway/auth/principal.ts';
import type { Dispatch } from '../../gateway/dispatch.ts';
import type { Log } from '../../log.ts';
import { whenThere } from '../../timing/when-there.ts';
import { createIdentify } from '../credentials.ts';
import { type Answer, type Exchange, everyAnswer, json, type Respond } from '../exchange.ts';
import type { EdgeHandler } from '../express-classes.ts';
import { admit, attempt, fail, known } from '../guard.ts';
import { isDeclaredJson, readBody, UNREADABLE } from '../input/body.ts';
import { createPlaces } from '../input/places.ts';

export interface McpEdgeDeps {
  dispatch: Dispatch;
  authenticator: Authenticator;
  originPolicy: Pick<OriginPolicy, 'isForeign'>;
  clientAddress: ClientAddress;
  respond: Respond;
  version: string;
  log: Log;
  /** Aborts when the server shuts down; calls that wait then end. */
  closing: AbortSignal;
}

const PATH = '/mcp';
/** Requests of one caller at the same time. Each may wait for the end of a run. */
const MOST_AT_ONCE = 32;

/**
 * The daemon as a tool server (MCP over streamable HTTP), behind the gate of all other paths. Stateless: each request is one
 * message with its own credential, so nothing has to be limited, resumed or ended but the request itself.
 */
export function createMcpEdge(deps: McpEdgeDeps): EdgeHandler {
  const { authenticator, originPolicy, respond, log } = deps;
  const identify = createIdentify(authenticator, originPolicy);
  const places = createPlaces(MOST_AT_ONCE);
  const failing = { respond, log };

  function serve(exchange: Exchange, caller: Principal): void {
    const { req, res } = exchange;
    if (res.destroyed) return; // the client left before it was known: nobody would give its place back
    if (!isDeclaredJson(req.headers['content-type'])) return void respond(exchange, NOT_JSON);
    const leave = places.take(caller.id);
    if (leave === undefined) return void respond(exchange, TOO_MANY);
    res.once('close', leave);
    readBody(req, {
      take(body) {
        if (body === UNREADABLE) respond(exchange, UNPARSED);
        else attempt(exchange, () => answer(exchange, { body, caller }, deps), failing);
      },
      fail: (error) => fail(exchange, error, failing),
    });
  }

  return ({ method }, res, next) => {
    const { exchange } = res.locals;
    if (exchange.path !== PATH) return next();
    exchange.endpoint = PATH;
    if (method !== 'POST') return void respond(exchange, ONLY_POST);
    attempt(
      exchange,
      () => whenThere(identify(exchange.req, {}), (principal) => serve(exchange, known(admit(principal, 'read')))),
      failing,
    );
  };
}

interface Asked {
  body: Record<string, unknown>;
  caller: Principal;
}

/** Loads the server with the first request, because most daemons never get one. */
async function answer(exchange: Exchange, { body, caller }: Asked, deps: McpEdgeDeps): Promise<void> {
  const { req, res } = exchange;
  const { dispatch, clientAddress, respond, version, log, closing } = deps;
  const { serveMessage } = await import('./serve-message.ts');
  const left = new AbortController();
  res.once('close', () => left.abort());
  if (res.destroyed) left.abort(); // while the server was loaded
  const signal = AbortSignal.any([left.signal, closing]);
  const response = await serveMessage({
    request: new Request(`http://localhost${PATH}`, { method: 'POST', headers: headersOf(exchange), signal }),
    body,
    version,
    log,
    held: caller,
    call: async (method, params) => {
      const held: object = {
        result: await dispatch(method, params, {
          principal: caller,
          signal: AbortSignal.any([signal, caller.ended]),
          address: clientAddress(req),
          requestId: exchange.requestId,
          interim: () => undefined,
          subscriptions: undefined,
        }),
      };
      return Reflect.get(held, 'result'); // the generic seam: a result fits its own row
    },
  });
  await send(exchange, response, respond);
}

/** What the protocol reads of a request. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

function headersOf({ req: { headers } }: Exchange): Headers {
  const read = new Headers();
  for (const name of HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') read.set(name, value);
  }
  return read;
}

async function send(exchange: Exchange, response: Response, respond: Respond): Promise<void> {
  const { status, headers, body } = response;
  const contentType = headers.get('content-type') ?? undefined;
  if (body === null || contentType?.startsWith('text/event-stream') !== true) {
    const text = await response.text();
    respond(exchange, { status, body: text, ...(contentType !== undefined && { contentType }) });
    return;
  }
  const { res } = exchange;
  res.writeHead(status, {
    ...everyAnswer(exchange),
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
  });
  try {
    await pipeline(body, res);
  } catch {
    res.destroy(); // the client has left
  }
  respond(exchange, { status, body: '' }); // only counts the request, because the headers are sent
}

/** An error of the protocol that is about no message. */
const refusal = (status: number, code: number, message: string): Answer =>
  json(status, { jsonrpc: '2.0', error: { code, message }, id: null });

const ONLY_POST: Answer = {
  ...refusal(405, -32_000, 'Only POST: this server keeps no sessions and sends nothing that was not asked for'),
  headers: { Allow: 'POST' },
};
const NOT_JSON = refusal(415, -32_000, 'Content-Type must be application/json');
const UNPARSED = refusal(400, -32_700, 'The body must be one JSON-RPC message, an object; batches are not supported');
const TOO_MANY: Answer = {
  ...refusal(429, -32_000, 'Too many requests of this caller are in progress; wait for one to end'),
  headers: { 'Retry-After': '2' },
};
