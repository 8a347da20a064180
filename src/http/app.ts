import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import { eventsEndpoints } from '../../protocol/http/events.ts';
import type { Clock } from '../clock.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import type { ClientAddress } from '../gateway/auth/client-address.ts';
import type { OriginPolicy } from '../gateway/auth/origin-policy.ts';
import { problemOfHead } from '../gateway/auth/request-head.ts';
import type { Dispatch } from '../gateway/dispatch.ts';
import type { EventStreams } from '../gateway/streams/event-streams.ts';
import type { Log } from '../log.ts';
import type { Binding } from './bind.ts';
import type { BodyDeadlines } from './body-deadlines.ts';
import { createIdentify } from './credentials.ts';
import { createGoneSignals } from './disconnect-signal.ts';
import type { StaticText } from './encoding.ts';
import { type Answer, createRespond, type Exchange, type HttpMetrics, json, type Respond } from './exchange.ts';
import type { Page } from './page.ts';
import type { RateLimit } from './rate-limit.ts';
import { RouteTable } from './route-table.ts';
import { type AttachmentService, attachmentRoutes } from './routes/attachment.ts';
import { authRoutes } from './routes/auth.ts';
import { type EventRouteDeps, type StreamRequest, streamStates, streamWorkstream } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { workstreamRoutes } from './routes/workstream.ts';
import { admit, fail, queryOf, read, type ServeDeps, serve } from './serve.ts';
import { createSite } from './site.ts';
import { createSseWriting } from './sse.ts';
import { unauthorized } from './status.ts';

export interface HttpDeps {
  dispatch: Dispatch;
  authenticator: Authenticator;
  streams: EventStreams;
  attachments: AttachmentService;
  bodies: Pick<BodyDeadlines, 'mayTakeLong'>;
  metrics: HttpMetrics;
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
  /** Left out: nobody is limited. */
  rateLimit?: RateLimit | undefined;
  page: Page;
  /** The OpenAPI document. */
  openapi: StaticText;
  clock: Clock;
  log: Log;
  /** Aborts when the server shuts down: streams end. */
  closing: AbortSignal;
}

type Route = (exchange: Exchange) => unknown;

/**
 * The HTTP edge. API calls are looked up in a table of the endpoint rows before Express sees them, because its router and
 * request objects cost several times what a cheap call does; Express serves the rest (decision 26).
 */
export function createHttpApp(deps: HttpDeps): RequestListener {
  const { clock } = deps;
  const respond = createRespond(deps);
  const routes = createRoutes(deps, respond);
  const site = createSite({ ...deps, respond });
  return (req, res) => {
    const { path, query } = splitUrl(req.url ?? '/');
    const found = routes.find(req.method, path);
    const { path: endpoint = 'other', fields = {} } = found ?? {};
    const exchange = { req, res, query, endpoint, fields, startedMs: clock.monotonic() };
    const refusal = refuse(req, path, deps);
    if (refusal) respond(exchange, refusal);
    else if (req.method === 'OPTIONS') preflight(res);
    else if (found) found.route(exchange);
    else site(req, res);
  };
}

/** Requests that no browser of ours makes (by a name we do not go by, or from another site's page), or that come too soon. */
function refuse(req: IncomingMessage, path: string, deps: HttpDeps): Answer | undefined {
  const { originPolicy, rateLimit, metrics } = deps;
  const { method = '', headers } = req;
  const problem = problemOfHead(req.rawHeaders);
  if (problem) return json(problem.status, { error: problem.text });
  if (!originPolicy.checkHost(headers.host)) return UNKNOWN_HOST;
  if (!originPolicy.admitsForeign(method, path) && originPolicy.isForeign(headers)) return FOREIGN;
  const waitMs = rateLimit === undefined || method === 'OPTIONS' || UNLIMITED.has(path) ? 0 : rateLimit(req);
  if (waitMs === 0) return undefined;
  metrics.rateLimited();
  return tooManyRequests(waitMs);
}

const UNKNOWN_HOST = json(403, { error: 'Forbidden: this host name is not allowed' });
const FOREIGN = json(403, { error: 'Forbidden: request from another site' });

/** What watches the daemon must get through. */
const UNLIMITED = new Set(['/health', '/metrics', '/openapi.json', '/docs']);

/** The specification's fixed Retry-After; the body says it exactly, in seconds. */
const tooManyRequests = (waitMs: number): Answer =>
  json(429, { error: 'Rate limit exceeded', retry_after: Math.ceil(waitMs / 100) / 10 }, { 'Retry-After': '2' });

/** Answers every preflight alike, by specification; what a foreign page may do is decided by the request itself. */
function preflight(res: ServerResponse): void {
  res.writeHead(200, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'Content-Type',
    'Content-Length': 0,
  });
  res.end();
}

function splitUrl(url: string): { path: string; query: string } {
  const at = url.indexOf('?');
  return at === -1 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

function createRoutes(deps: HttpDeps, respond: Respond): RouteTable<Route> {
  const identify = createIdentify(deps.authenticator, deps.originPolicy);
  const serveDeps: ServeDeps = { ...deps, respond, identify, goneSignalOf: createGoneSignals() };
  const routes = new RouteTable<Route>();
  const bindings: Binding[] = [...workstreamRoutes, ...authRoutes, ...healthRoutes];
  for (const binding of bindings) {
    const { endpoint } = binding;
    const route = serve(binding, serveDeps);
    routes.add(endpoint, route);
    if (endpoint.verb === 'get') routes.add({ verb: 'head', path: endpoint.path }, route);
  }
  for (const { endpoint, serve: route } of attachmentRoutes({ ...deps, ...serveDeps })) routes.add(endpoint, route);
  const { events, global } = eventsEndpoints;
  const streamDeps = { ...deps, ...serveDeps, writing: createSseWriting() };
  routes.add(events, serveStream({ endpoint: events, open: streamWorkstream }, streamDeps));
  routes.add(global, serveStream({ endpoint: global, open: streamStates }, streamDeps));
  return routes;
}

interface StreamRoute<E extends Endpoint> {
  endpoint: E;
  open(request: StreamRequest<z.output<E['request']>>, deps: EventRouteDeps): void | Promise<void>;
}

/** Streams answer by themselves once they are open; until then they fail like any other endpoint. */
function serveStream<E extends Endpoint>(row: StreamRoute<E>, deps: ServeDeps & EventRouteDeps & HttpDeps): Route {
  return async (exchange) => {
    try {
      const principal = admit(await deps.identify(exchange.req), row.endpoint.scope);
      if (principal === undefined) throw unauthorized();
      await row.open({ exchange, principal, request: read(row.endpoint, queryOf(exchange)) }, deps);
      deps.metrics.httpRequest({
        ...labelsOf(exchange),
        seconds: (deps.clock.monotonic() - exchange.startedMs) / 1000,
      });
    } catch (error) {
      fail(exchange, error, deps);
    }
  };
}

const labelsOf = ({ req, endpoint }: Exchange) => ({ method: req.method ?? '', endpoint, statusCode: 200 });
