import type { HealthSummary } from '../../protocol/methods/health.ts';
import { StreamEvent } from '../../protocol/stream-events.ts';
import { createEndOfTurn, type Defer } from '../timing/end-of-turn.ts';
import type { Attachments } from './attachments/attachments.ts';
import { type Broadcast, createBroadcast } from './connections/broadcast.ts';
import { type Conversations, createConversations } from './conversations.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { createFrameCheck } from './frame-check.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Health } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import { createMetrics, type Metrics, stateOf } from './metrics.ts';
import { joinNodes } from './nodes/join-nodes.ts';
import { joinNouns } from './nouns.ts';
import { createPresence, type Presence } from './presence.ts';
import { createGatewayServer, type GatewayServer } from './server.ts';
import type { Store } from './store/store.ts';
import type { EventStreams } from './streams/event-streams.ts';

/** The core of the daemon: one dispatch, one event log, one set of workstreams, and the WebSocket side. */
export interface Gateway {
  dispatch: Dispatch;
  streams: EventStreams;
  /** Runs tasks together at the end of a commit or turn, so that their output is one write. */
  defer: Defer;
  metrics: Metrics;
  health: Health;
  attachments: Attachments;
  sockets: GatewayServer;
  /** All parts, for tests of a single one. */
  parts: GatewayParts;
  /** Reconciles what the previous process left. Serve nothing before it resolves. */
  recover(): Promise<void>;
  /** Runs ticks, health checks and housekeeping until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Notifies clients, closes sockets and stops runs so that a restart continues them. */
  shutdown(reason: string): Promise<void>;
}

type GatewayParts = Conversations['records'] &
  Conversations['talks'] &
  Conversations['turns'] & { broadcast: Broadcast; presence: Presence; store: Store };

export function createGateway(deps: GatewayDeps): Gateway {
  const { store, nodes, live, authenticator, originPolicy, clientAddress, clock, ids, log } = deps;
  const stopping = new AbortController();
  const metrics = createMetrics();
  const { version, host, platform } = deps.server;
  const presence = createPresence({ self: { version, host, platform }, clock });
  const check = createFrameCheck({
    every: deps.checkFramesEvery,
    onInvalid: (frame, problem) => log.error({ frame, err: problem }, 'a frame does not match its schema'),
  });
  const broadcast = createBroadcast({ check });
  nodes.onAnnouncement((event, payload) => broadcast.publish(event, payload));
  const idempotency = createIdempotency({ store, clock, log });
  const { defer, flush } = createEndOfTurn();
  const around = { broadcast, metrics, idempotency, flush, stopping: stopping.signal };
  const conversations = createConversations(deps, around);
  const { records, talks, turns } = conversations;
  const { events, attachments } = records;
  const { workstreams, streams } = talks;
  events.onAppended((_, entries) => {
    for (const { json } of entries) if (check.isDue()) check.inspect('workstream', StreamEvent, JSON.parse(json));
  });
  const stateVersion = () => ({ presence: presence.version(), health: health.version() });
  const health: Health = createHealth(deps, conversations, (summary) =>
    broadcast.publish('health', summary, { stateVersion: stateVersion() }),
  );
  const nouns = joinNouns(deps, conversations, { broadcast, presence, health, idempotency });
  const dispatch = createDispatch({ handlers: nouns.handlers, idempotency, metrics, check, clock, log });
  const sockets = createGatewayServer({
    ...{ dispatch, authenticator, originPolicy, clientAddress, broadcast, presence, live, defer, clock, ids, log },
    ...(deps.tickIntervalMs !== undefined && { tickIntervalMs: deps.tickIntervalMs }),
    server: { version, host },
    nodes: { admit: (candidate) => nodes.door.admit(candidate), join: joinNodes({ nodes, clock }) },
    onRateLimited: metrics.rateLimited,
    follow: (wsId, after, stream) => events.follow(wsId, after, stream),
    health: { latest: () => health.summary(), version: () => health.version() },
  });
  metrics.mirror(stateOf({ health, workstreams, sockets }));
  return {
    ...{ dispatch, streams, defer, metrics, health, attachments, sockets },
    parts: { ...records, ...talks, ...turns, broadcast, presence, store },
    async recover() {
      await nouns.recover();
      log.info({ workstreams: workstreams.list().length }, 'ready');
    },
    async run(signal) {
      await Promise.all([sockets.run(signal), nouns.run(signal)]);
    },
    async shutdown(reason) {
      stopping.abort(new Error(reason));
      await Promise.all([sockets.shutdown(reason), nouns.close()]);
    },
  };
}

function createHealth(
  { server, models, startNotices, store, storePath, notSandboxed, live, clock }: GatewayDeps,
  { talks: { sessions, workstreams }, turns: { heartbeats } }: Conversations,
  publish: (summary: HealthSummary) => void,
): Health {
  const { version, nodeId } = server;
  return new Health({
    ...{ version, nodeId, models, startNotices, store, storePath, notSandboxed, live, sessions, heartbeats, clock },
    states: () => workstreams.list().map(({ data }) => data.state),
    publish,
  });
}
