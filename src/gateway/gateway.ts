import { StreamEvent } from '../../protocol/stream-events.ts';
import type { Attachments } from './attachments/attachments.ts';
import { createBroadcast } from './connections/broadcast.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { createFrameCheck } from './frame-check.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { createHandlers } from './handlers.ts';
import { Health } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import { createMetrics, type Metrics, stateOf } from './metrics.ts';
import { joinNodes } from './nodes/join-nodes.ts';
import { createParts } from './parts.ts';
import { createPresence } from './presence.ts';
import { createGatewayServer, type GatewayServer } from './server.ts';
import type { EventStreams } from './streams/event-streams.ts';
import { announceAlwaysEnds } from './workstreams/always-ends.ts';

/** The core of the daemon: one dispatch, one event log, one set of workstreams, and a WebSocket side. */
export interface Gateway {
  dispatch: Dispatch;
  streams: EventStreams;
  metrics: Metrics;
  health: Health;
  attachments: Attachments;
  sockets: GatewayServer;
  /** Reconciles what the last process left; nothing may be served before it resolves. */
  recover(): Promise<void>;
  /** Ticks, health and housekeeping, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Says good-bye, closes sockets and stops what runs so that a restart continues it. */
  shutdown(reason: string): Promise<void>;
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { store, clock, log } = deps;
  const stopping = new AbortController();
  const metrics = createMetrics();
  const { version, host, platform } = deps.server;
  const presence = createPresence({ self: { version, host, platform }, clock });
  const check = createFrameCheck({
    every: deps.checkFramesEvery,
    onInvalid: (frame, problem) => log.error({ frame, err: problem }, 'a frame does not fit its own schema'),
  });
  const broadcast = createBroadcast({ check });
  deps.nodes.onAnnouncement((event, payload) => broadcast.publish(event, payload));
  const idempotency = createIdempotency({ store, clock, log });
  const parts = createParts(deps, { broadcast, metrics, idempotency, stopping: stopping.signal });
  const { workstreams, events, streams, recover } = parts;
  events.onAppended((_, entries) => {
    for (const { json } of entries) if (check.isDue()) check.inspect('workstream', StreamEvent, JSON.parse(json));
  });
  const states = () => workstreams.list().map(({ data }) => data.state);
  const health = new Health({ ...deps.server, ...deps, ...parts, states });
  const handlers = createHandlers(deps, { ...parts, broadcast, presence, health });
  const dispatch = createDispatch({ handlers, idempotency, metrics, check, clock, log });
  const sockets = createGatewayServer({
    ...deps,
    server: { version, host },
    dispatch,
    broadcast,
    presence,
    nodes: { admit: (candidate) => deps.nodes.door.admit(candidate), join: joinNodes(deps) },
    onRateLimited: metrics.rateLimited,
    follow: (wsId, after, stream) => events.follow(wsId, after, stream),
    health: { latest: () => health.summary(), version: () => health.version() },
  });
  metrics.mirror(stateOf({ health, workstreams, sockets }));
  return {
    dispatch,
    streams,
    metrics,
    health,
    attachments: parts.attachments,
    sockets,
    recover,
    async run(signal) {
      const stateVersion = () => ({ presence: presence.version(), health: health.version() });
      const publish: Parameters<Health['run']>[1] = (summary) =>
        broadcast.publish('health', summary, { stateVersion: stateVersion() });
      await Promise.all([
        sockets.run(signal),
        idempotency.run(signal),
        deps.nodes.run(signal),
        parts.heartbeats.run(signal),
        parts.outbox.run(signal),
        parts.cron.run(signal),
        parts.attachments.run(signal),
        announceAlwaysEnds({ ...parts, store, clock, log }, signal),
        health.run(signal, publish),
      ]);
    },
    async shutdown(reason) {
      stopping.abort(new Error(reason));
      await Promise.all([sockets.shutdown(reason), workstreams.shutdown()]);
    },
  };
}
