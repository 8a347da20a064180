import type { IncomingMessage, RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { clusterEndpoints } from '../../protocol/http/cluster.ts';
import { eventsEndpoints } from '../../protocol/http/events.ts';
import { workstreamLineEndpoints } from '../../protocol/http/workstream-line.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import type { ClientAddress } from '../gateway/auth/client-address.ts';
import type { MachineSessions } from '../gateway/auth/machines/machine-sessions.ts';
import type { OriginPolicy } from '../gateway/auth/origin-policy.ts';
import type { FindHook } from '../gateway/channels/channel-hook.ts';
import type { Cluster } from '../gateway/cluster/cluster.ts';
import type { Dispatch } from '../gateway/dispatch.ts';
import type { Exports } from '../gateway/portable/exports.ts';
import type { EventStreams } from '../gateway/streams/event-streams.ts';
import type { Log } from '../log.ts';
import type { Defer } from '../timing/end-of-turn.ts';
import type { Binding } from './bind.ts';
import type { BodyDeadlines } from './body-deadlines.ts';
import { callOf } from './call.ts';
import { streamCluster } from './console/cluster-stream.ts';
import { nodeRoutes, withoutNode } from './console/node-prefix.ts';
import { placedCreations, routed } from './console/routed.ts';
import { createIdentify } from './credentials.ts';
import { createDisconnectSignals } from './disconnect-signal.ts';
import type { StaticText } from './encoding.ts';
import { type Answer, createRespond, type HttpMetrics, type Respond } from './exchange.ts';
import { createExpressClasses, type EdgeHandler, type ExpressClasses } from './express-classes.ts';
import { createGate, type Gate, preflight } from './gate.ts';
import { fail, type Guarded, guard } from './guard.ts';
import { createForms } from './input/form.ts';
import { createLargeBodies } from './input/large-bodies.ts';
import { createPlaces } from './input/places.ts';
import { splitTarget, toRoutable } from './input/target.ts';
import { createMachineEdge } from './machines/machine-edge.ts';
import { createMcpEdge } from './mcp/mcp-edge.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRawRequests, type RawRequests } from './raw/raw-requests.ts';
import { createRequestIds, type RequestIdOf } from './request-id.ts';
import { createRouters, type FindRouter } from './routers.ts';
import { auditRoutes } from './routes/accounts/audit.ts';
import { authRoutes } from './routes/accounts/auth.ts';
import { oidcRoutes } from './routes/accounts/oidc.ts';
import { orgRoutes } from './routes/accounts/org.ts';
import { roleRoutes } from './routes/accounts/role.ts';
import { tokenRoutes } from './routes/accounts/token.ts';
import { userRoutes } from './routes/accounts/user.ts';
import { assessmentRoutes } from './routes/admin/assessment.ts';
import { verdictRoutes } from './routes/admin/verdict.ts';
import { coordinatorRoutes } from './routes/agents/coordinator.ts';
import { type AttachmentService, attachmentRoutes } from './routes/attachment.ts';
import { channelRoutes } from './routes/channels/channel.ts';
import { channelHookRoutes } from './routes/channels/channel-hook.ts';
import { clusterRoutes } from './routes/cluster.ts';
import { backgroundRoutes } from './routes/commands/background.ts';
import { subAgentRoutes } from './routes/commands/sub-agent.ts';
import { watchRoutes } from './routes/commands/watch.ts';
import { mcpConsentRoutes } from './routes/consents/mcp-consent.ts';
import { conversationRoutes, exportRoute } from './routes/conversation.ts';
import { streamOf, streamStates, streamWorkstream } from './routes/events.ts';
import { checkpointRoutes } from './routes/files/checkpoint.ts';
import { fileRoutes } from './routes/files/file.ts';
import { healthRoutes } from './routes/health.ts';
import { mcpAdminRoutes } from './routes/mcp/mcp-admin.ts';
import { mcpRegistryRoutes } from './routes/mcp/mcp-registry.ts';
import { memoryRoutes } from './routes/memory.ts';
import { modelsRoutes } from './routes/models.ts';
import { ruleRoutes } from './routes/permissions/rule.ts';
import { policyRoutes } from './routes/policy.ts';
import { planRoutes } from './routes/questions/plan.ts';
import { scheduleRoutes } from './routes/schedule.ts';
import { settingsRoutes } from './routes/settings.ts';
import { sharingRoutes } from './routes/sharing.ts';
import { skillRoutes } from './routes/skills/skill.ts';
import { skillResourceRoutes } from './routes/skills/skill-resource.ts';
import { skillSourceRoutes } from './routes/skills/skill-source.ts';
import { templateRoutes } from './routes/template.ts';
import { usageRoutes } from './routes/usage.ts';
import { workstreamRoutes } from './routes/workstream.ts';
import { workstreamLineRoutes } from './routes/workstream-line.ts';
import { wstemplateRoutes } from './routes/wstemplate.ts';
import type { Page } from './site/page.ts';
import { createSite } from './site/site.ts';
import type { SiteFiles } from './site/site-files.ts';
import { createSseWriting } from './sse.ts';

export interface HttpDeps {
  dispatch: Dispatch;
  authenticator: Authenticator;
  streams: EventStreams;
  defer: Defer;
  attachments: AttachmentService;
  exports: Pick<Exports, 'open'>;
  cluster: Cluster;
  findHook: FindHook;
  bodies: Pick<BodyDeadlines, 'mayTakeLong'>;
  metrics: HttpMetrics;
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
  /** The other daemons of the database; absent if there can be none. */
  machines?: MachineSessions | undefined;
  /** Without it, clients are not limited. */
  rateLimit?: RateLimit | undefined;
  page: Page;
  /** The OpenAPI document. */
  openapi: StaticText;
  siteFiles: SiteFiles;
  /** Additional endpoints, for tests. */
  bindings?: readonly Binding[];
  clock: Clock;
  log: Log;
  /** Aborts when the server shuts down; streams then end. */
  closing: AbortSignal;
  /** Different at each start; the ids of requests begin with it. */
  requestIdPrefix: string;
  /** Headgate's version, for clients that ask. */
  version: string;
}

/** The request listener, and the classes that the server must use for its requests and responses. */
export interface HttpApp {
  classes: ExpressClasses;
  requestIdOf: RequestIdOf;
  raw: RawRequests;
  listener: RequestListener<ExpressClasses['IncomingMessage'], ExpressClasses['ServerResponse']>;
}

/** The HTTP edge: Express with a Router per noun, generated from the endpoint rows, and one guard before each (decision 44). */
export function createHttpApp(deps: HttpDeps): HttpApp {
  const { metrics, clock, log } = deps;
  const requestIdOf = createRequestIds(deps.requestIdPrefix);
  const app = createExpress();
  // A daemon that has just started answers sockets first.
  let isMounted = false;
  return {
    classes: createExpressClasses(app),
    requestIdOf,
    raw: createRawRequests({ requestIdOf, metrics, notFound: NOT_FOUND, clock, log }),
    listener(req, res) {
      if (!isMounted) mount(app, deps);
      isMounted = true;
      deps.machines?.clientOf(req); // whoever forwards has sealed the address as it was sent; it is changed below
      const { path: sent, query } = splitTarget(req.url ?? '/');
      const path = withoutNode(sent, deps.cluster);
      const requestId = requestIdOf(req);
      const exchange = {
        req,
        res,
        requestId,
        path,
        query,
        endpoint: 'other',
        fields: {},
        startedMs: clock.monotonic(),
      };
      res.locals = { exchange };
      req.url = toRoutable(path);
      app(req, res);
    },
  };
}

/** Puts the handlers into the app, in the order in which they are asked. */
function mount(app: Express, deps: HttpDeps): void {
  const { originPolicy, rateLimit, page, openapi, siteFiles: files, metrics, defer, clock, log } = deps;
  const { dispatch, authenticator, clientAddress, machines, version, closing } = deps;
  const respond = createRespond({ metrics, log, clock, defer });
  const gate = createGate({ originPolicy, rateLimit, metrics, respond });
  app.use(entrance(gate, createApi(deps, { respond, gate })));
  app.use(((_, res, next) => {
    if (!gate(res.locals.exchange)) next();
  }) satisfies EdgeHandler);
  if (machines) app.use(createMachineEdge({ machines, respond, log }));
  app.use(createMcpEdge({ dispatch, authenticator, originPolicy, clientAddress, respond, version, log, closing }));
  app.use(createSite({ page, openapi, files, metrics, respond }));
  app.use(((_, res) => respond(res.locals.exchange, NOT_FOUND)) satisfies EdgeHandler);
  // biome-ignore lint/complexity/useMaxParams: express knows an error handler by its four parameters.
  app.use(((error, _req, res, _next) =>
    fail(res.locals.exchange, error, { respond, log })) satisfies ErrorRequestHandler);
}

function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  return app;
}

const NOT_FOUND: Answer = { status: 404, contentType: 'text/plain; charset=utf-8', body: 'Not found' };

/**
 * Answers every preflight, whatever its path. Other requests go to the Router of their noun; unmatched ones continue to
 * the site.
 */
const entrance =
  (gate: Gate, findRouter: FindRouter): EdgeHandler =>
  (req, res, next) => {
    const { exchange } = res.locals;
    if (req.method === 'OPTIONS') {
      if (!gate(exchange)) preflight(exchange);
      return;
    }
    const router = findRouter(exchange.path);
    if (router) router(req, res, next);
    else next();
  };

type ApiDeps = Pick<
  HttpDeps,
  | 'dispatch'
  | 'authenticator'
  | 'originPolicy'
  | 'clientAddress'
  | 'streams'
  | 'attachments'
  | 'exports'
  | 'cluster'
  | 'findHook'
  | 'bodies'
  | 'defer'
  | 'metrics'
  | 'bindings'
  | 'closing'
  | 'clock'
  | 'log'
>;

/** Endpoints that call one method. */
const BINDINGS: readonly Binding[] = [
  ...workstreamRoutes,
  ...workstreamLineRoutes,
  ...sharingRoutes,
  ...modelsRoutes,
  ...conversationRoutes,
  ...authRoutes,
  ...tokenRoutes,
  ...userRoutes,
  ...oidcRoutes,
  ...roleRoutes,
  ...orgRoutes,
  ...auditRoutes,
  ...checkpointRoutes,
  ...fileRoutes,
  ...policyRoutes,
  ...assessmentRoutes,
  ...verdictRoutes,
  ...ruleRoutes,
  ...backgroundRoutes,
  ...subAgentRoutes,
  ...planRoutes,
  ...channelRoutes,
  ...mcpConsentRoutes,
  ...watchRoutes,
  ...mcpAdminRoutes,
  ...mcpRegistryRoutes,
  ...coordinatorRoutes,
  ...settingsRoutes,
  ...scheduleRoutes,
  ...usageRoutes,
  ...memoryRoutes,
  ...templateRoutes,
  ...wstemplateRoutes,
  ...skillRoutes,
  ...skillResourceRoutes,
  ...skillSourceRoutes,
  ...healthRoutes,
  ...clusterRoutes,
];

/** The Routers of the API: every row with its handler, behind the guard. */
function createApi(deps: ApiDeps, { respond, gate }: { respond: Respond; gate: Gate }): FindRouter {
  const { dispatch, authenticator, originPolicy, clientAddress, streams, attachments, exports, cluster, bodies } = deps;
  const { findHook } = deps;
  const { defer, metrics, bindings: added = [], closing, clock, log } = deps;
  const identify = createIdentify(authenticator, originPolicy);
  const { importsAtOnce, hookBodiesAtOnce, streamsPerPrincipal } = LIMITS;
  const writing = createSseWriting({ defer, clock });
  const streamDeps = { streams, writing, places: createPlaces(streamsPerPrincipal), metrics, closing, clock, log };
  const onLarge = (req: IncomingMessage) => bodies.mayTakeLong(req);
  const admitBody = createLargeBodies({ most: importsAtOnce, what: 'imports', onLarge });
  // Anybody may send to a hook, so these have neither the places of imports nor their time.
  const admitHook = createLargeBodies({ most: hookBodiesAtOnce, what: 'large calls' });
  const withForm = createForms({ attachments, bodies });
  const disconnectSignalOf = createDisconnectSignals();
  const callDeps = { dispatch, clientAddress, disconnectSignalOf, admitBody, withForm, respond, log };
  const bindings = [...BINDINGS, ...placedCreations(workstreamRoutes, cluster), ...added];
  const guarded: Guarded[] = [
    ...bindings.map((binding) => callOf(binding, callDeps)),
    exportRoute({ exports, respond }),
    ...attachmentRoutes({ attachments, bodies, respond }),
    ...channelHookRoutes({ findHook, admitBody: admitHook, respond }),
    streamOf({ endpoint: eventsEndpoints.events, open: streamWorkstream }, streamDeps),
    streamOf({ endpoint: workstreamLineEndpoints.events, open: streamWorkstream }, streamDeps),
    streamOf({ endpoint: eventsEndpoints.global, open: streamStates }, streamDeps),
    streamOf({ endpoint: clusterEndpoints.events, open: streamCluster(cluster) }, streamDeps),
  ];
  const all = [...guarded, ...routed(guarded), ...nodeRoutes({ cluster, respond, notFound: NOT_FOUND })];
  const guardDeps = { gate, identify, respond, log };
  return createRouters(all.map((row) => ({ endpoint: row.endpoint, serve: guard(row, guardDeps) })));
}
