import type { HealthSummary } from '../../protocol/methods/health.ts';
import { createEndOfTurn, type Defer } from '../timing/end-of-turn.ts';
import type { Attachments } from './attachments/attachments.ts';
import type { FindHook } from './channels/channel-hook.ts';
import type { Cluster } from './cluster/cluster.ts';
import { createLocalCluster } from './cluster/local-cluster.ts';
import { requireLeaseOf } from './cluster/require-lease.ts';
import { type Broadcast, createBroadcast } from './connections/broadcast.ts';
import { type Conversations, createConversations } from './conversations.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import type { EventLog } from './events/event-log.ts';
import { createFrameCheck, inspectAppended } from './frame-check.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Health, type Served } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import { HealthSamples } from './metrics/health-samples.ts';
import { loadOf } from './metrics/load-metrics.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { stateOf } from './metrics/state-metrics.ts';
import { joinNodes } from './nodes/join-nodes.ts';
import { type ChannelNouns, channelNouns } from './nouns/channel-nouns.ts';
import { type JoinedNouns, joinNouns } from './nouns.ts';
import type { Exports } from './portable/exports.ts';
import { createPresence, type Presence } from './presence/presence.ts';
import { createGatewayServer, type GatewayServer } from './server.ts';
import { DAEMON } from './sharing/perception.ts';
import type { EventStreams } from './streams/event-streams.ts';
import { tracedDispatch } from './traces/traced-dispatch.ts';
import { auditOfWorker } from './workers/calls/audited-elsewhere.ts';
import type * as JoinMachines from './workers/join-machines.ts';
import type { Lead } from './workers/lead.ts';
import { aloneAt } from './workers/team.ts';
import type { Worker } from './workers/worker.ts';

/** The core of the daemon: one dispatch, one event log, one set of workstreams, and the WebSocket side. */
export interface Gateway {
  dispatch: Dispatch;
  streams: EventStreams;
  /** Runs tasks together at the end of a commit or turn, so that their output is one write. */
  defer: Defer;
  metrics: Metrics;
  health: Health;
  attachments: Attachments;
  cluster: Cluster;
  exports: Exports;
  /** How chat services call the daemon. */
  findHook: FindHook;
  sockets: GatewayServer;
  /** Whether the rows of a hidden workstream are being stored. */
  isBeingMade(wsId: string): boolean;
  /** Reconciles what the previous process left. Serve nothing before it resolves. */
  recover(): Promise<void>;
  /** Runs ticks, health checks and housekeeping until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Gives workstreams to the active daemon before this one stops, if it is a worker. Never throws. */
  leave(longestMs: number): Promise<void>;
  /** Notifies clients, closes sockets and stops runs so that a restart continues them. */
  shutdown(reason: string): Promise<void>;
}

/** How to work with other machines. It is loaded only if there can be some. */
type Joining = Pick<typeof JoinMachines, 'createLeadOf' | 'createWorkerOf'>;

/** The gateway as the daemon uses it. `joining`: absent if `deps.machines` is. */
export const createGateway = (deps: GatewayDeps, joining?: Joining): Gateway => connectGateway(deps, joining).gateway;

/** Connects the gateway. Also returns its parts, which only the fixtures for tests use. */
export function connectGateway(deps: GatewayDeps, joining?: Joining): { gateway: Gateway; parts: GatewayParts } {
  const { store, nodes, tracing, clock, log } = deps;
  const stopping = new AbortController();
  const metrics = createMetrics();
  const presence = createPresence({ self: selfOf(deps.server), clock });
  const check = frameCheckOf(deps);
  const broadcast = createBroadcast({ check });
  nodes.onAnnouncement((event, payload) => {
    broadcast.publish(event, payload);
    conversations.talks.outbox.push.look();
  });
  const idempotency = createIdempotency({ store, clock, log });
  const { defer, flush } = createEndOfTurn();
  const requireLease = requireLeaseOf(deps.shared);
  const shared = { broadcast, metrics, idempotency, requireLease, flush, stopping: stopping.signal };
  const conversations = createConversations(deps, shared);
  const { events, attachments } = conversations.records;
  const { workstreams, streams, global } = conversations.talks;
  inspectAppended(events, check);
  const stateVersion = () => ({ presence: presence.version(), health: health.version() });
  const chats = channelNouns(deps, conversations, metrics);
  const samples = new HealthSamples({ clock, store });
  const others = () => lead?.loads() ?? [];
  const health: Health = createHealth(deps, { conversations, channels: chats.health, samples, others }, (summary) => {
    broadcast.publish('health', summary, { stateVersion: stateVersion() });
    global.noteHealth(summary);
  });
  const lead = joining?.createLeadOf(deps, conversations, broadcast);
  const cluster = createLocalCluster(deps, { health, workstreams, global, lead });
  const { placement, waiting } = lead ?? aloneAt(deps.server);
  const sharing = { broadcast, presence, health, idempotency, cluster, chats, placement, waiting };
  const nouns = joinNouns(deps, conversations, sharing);
  const untraced = createDispatch({
    handlers: nouns.handlers,
    idempotency,
    audit: store.machine === null ? deps.auth.audit : auditOfWorker(deps.auth.audit),
    requireLease,
    forwarding: lead?.forwarding,
    metrics: store.machine === null ? metrics : UNCOUNTED,
    check,
    clock,
    log,
  });
  const dispatch = tracing === undefined ? untraced : tracedDispatch(untraced, tracing);
  const worker = joining?.createWorkerOf(deps, { conversations, broadcast, dispatch, cluster, health });
  const sockets = createSockets(deps, { dispatch, events, broadcast, presence, metrics, health, defer });
  observe(metrics, deps, { workstreams, health, sockets, channels: chats.health, lead });
  const life = lifeOf(deps, { workstreams, nouns, sockets, lead, worker, stopping });
  const gateway: Gateway = {
    dispatch,
    streams: lead?.streams ?? streams,
    defer,
    metrics,
    health,
    attachments,
    cluster,
    exports: conversations.talks.exports,
    findHook: chats.findHook,
    sockets,
    isBeingMade: (wsId) => conversations.talks.hidden.has(wsId),
    ...life,
  };
  return { gateway, parts: { conversations, broadcast, presence } };
}

/** The active daemon counts the calls that it passes on to a worker. */
const UNCOUNTED: Pick<Metrics, 'request'> = { request: () => undefined };

interface LivingParts {
  workstreams: Conversations['talks']['workstreams'];
  nouns: JoinedNouns;
  sockets: GatewayServer;
  lead: Lead | undefined;
  worker: Worker | undefined;
  stopping: AbortController;
}

function lifeOf(
  { hooks, toolServers, log }: Pick<GatewayDeps, 'hooks' | 'toolServers' | 'log'>,
  { workstreams, nouns, sockets, lead, worker, stopping }: LivingParts,
): Pick<Gateway, 'recover' | 'run' | 'leave' | 'shutdown'> {
  return {
    async recover() {
      await nouns.recover();
      log.info({ workstreams: workstreams.list(DAEMON).length }, 'ready');
    },
    async run(signal) {
      await Promise.all([sockets.run(signal), nouns.run(signal), (lead ?? worker)?.run(signal)]);
    },
    leave: async (longestMs) => worker?.leave(longestMs),
    async shutdown(reason) {
      stopping.abort(new Error(reason));
      await Promise.all([sockets.shutdown(reason), nouns.close()]);
      await hooks.settled().then(() => toolServers.close());
    },
  };
}

const frameCheckOf = ({ checkFramesEvery: every, log }: Pick<GatewayDeps, 'checkFramesEvery' | 'log'>) =>
  createFrameCheck({
    every,
    onInvalid: (frame, problem) => log.error({ frame, err: problem }, 'a frame does not match its schema'),
  });

const selfOf = ({ version, host, platform }: GatewayDeps['server']) => ({ version, host, platform });

interface GatewayParts {
  conversations: Conversations;
  broadcast: Broadcast;
  presence: Presence;
}

/** Connects the metrics with what they show. */
function observe(
  metrics: Metrics,
  {
    live,
    store,
    shared,
    server,
    machines,
    auth,
    toolServers,
  }: Pick<GatewayDeps, 'live' | 'store' | 'shared' | 'server' | 'machines' | 'auth' | 'toolServers'>,
  { workstreams, health, sockets, channels, lead }: ObservedParts,
): void {
  const all = { list: () => workstreams.list(DAEMON) };
  metrics.mirror(stateOf({ live, health, workstreams: all, sockets, toolServers }));
  if (shared) metrics.observeMachines({ shared, isBusConnected: machines?.isBusConnected, survey: lead?.survey });
  metrics.observeLoad(loadOf({ workstreams: all, store, server, passwords: auth.passwords }));
  metrics.observeLoaded(workstreams);
  if (store.machine === null) metrics.observeChannels(() => channels.figures());
}

interface ObservedParts {
  workstreams: Conversations['talks']['workstreams'];
  health: Health;
  sockets: GatewayServer;
  channels: ChannelNouns['health'];
  lead: Lead | undefined;
}

type HealthDeps = Pick<
  GatewayDeps,
  'server' | 'models' | 'startNotices' | 'store' | 'storePath' | 'notSandboxed' | 'live' | 'toolServers' | 'clock'
>;

interface ReportedParts {
  conversations: Pick<Conversations, 'talks' | 'turns'>;
  channels: ChannelNouns['health'];
  samples: HealthSamples;
  others: () => readonly Served[];
}

function createHealth(
  { server, models, startNotices, store, storePath, notSandboxed, live, toolServers, clock }: HealthDeps,
  { conversations: { talks, turns }, channels, samples, others }: ReportedParts,
  publish: (summary: HealthSummary) => void,
): Health {
  const { sessions, workstreams } = talks;
  return new Health({
    version: server.version,
    nodeId: server.nodeId,
    models,
    startNotices,
    store,
    storePath,
    notSandboxed,
    live,
    sessions,
    heartbeats: turns.heartbeats,
    channels,
    toolServers,
    states: () => workstreams.list(DAEMON).map(({ data }) => data.state),
    others,
    samples,
    publish,
    clock,
  });
}

type SocketDeps = Pick<
  GatewayDeps,
  | 'authenticator'
  | 'originPolicy'
  | 'clientAddress'
  | 'nodes'
  | 'live'
  | 'server'
  | 'tickIntervalMs'
  | 'clock'
  | 'ids'
  | 'log'
>;

interface ServedParts {
  dispatch: Dispatch;
  events: EventLog;
  broadcast: Broadcast;
  presence: Presence;
  metrics: Metrics;
  health: Health;
  defer: Defer;
}

/** The WebSocket side. */
function createSockets(
  { authenticator, originPolicy, clientAddress, nodes, live, server, tickIntervalMs, clock, ids, log }: SocketDeps,
  { dispatch, events, broadcast, presence, metrics, health, defer }: ServedParts,
): GatewayServer {
  return createGatewayServer({
    dispatch,
    authenticator,
    originPolicy,
    clientAddress,
    broadcast,
    presence,
    nodes: { admit: (candidate) => nodes.door.admit(candidate), join: joinNodes({ nodes, clock }) },
    follow: (wsId, after, stream) => events.follow(wsId, after, stream),
    onRateLimited: metrics.rateLimited,
    health: { latest: () => JSON.stringify(health.summary()), version: () => health.version() },
    server: { version: server.version, host: server.host },
    live,
    tickIntervalMs,
    defer,
    clock,
    ids,
    log,
  });
}
