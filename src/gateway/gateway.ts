import type { Models } from '../agent/providers/model.ts';
import type { ProcessIdentity } from '../agent/tools/tool.ts';
import type { Toolbox } from '../agent/tools/toolbox.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { ClientAddress } from './auth/client-address.ts';
import type { OriginPolicy } from './auth/origin-policy.ts';
import type { Handlers } from './call.ts';
import { createChannels } from './channels/channels.ts';
import { Outbox } from './channels/outbox.ts';
import { createWebhookChannel, type WebhookDeps } from './channels/webhook.ts';
import { createWorkstreamChannel } from './channels/workstream-note.ts';
import { type Broadcast, createBroadcast } from './connections/broadcast.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { EventLog } from './events/event-log.ts';
import { Health } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import type { LiveSettings } from './live-settings.ts';
import type { LogRing } from './log-ring.ts';
import { agentMethods } from './methods/agent.ts';
import { approvalMethods } from './methods/approval.ts';
import { type AuthMethodDeps, authMethods } from './methods/auth.ts';
import { chatMethods } from './methods/chat.ts';
import { type ConfigFile, configMethods } from './methods/config.ts';
import { eventsMethods } from './methods/events.ts';
import { healthMethods } from './methods/health.ts';
import { logsMethods } from './methods/logs.ts';
import { modelsMethods } from './methods/models.ts';
import { nodeMethods } from './methods/node.ts';
import { type OutputMethodDeps, outputMethods } from './methods/output.ts';
import { sendMethods } from './methods/send.ts';
import { sessionsMethods } from './methods/sessions.ts';
import { statusMethods } from './methods/status.ts';
import { systemMethods } from './methods/system.ts';
import { type TokenMethodDeps, tokenMethods } from './methods/token.ts';
import { voicewakeMethods } from './methods/voicewake.ts';
import { wakeMethods } from './methods/wake.ts';
import { workstreamMethods } from './methods/workstream.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { joinNodes } from './nodes/join-nodes.ts';
import type { Nodes } from './nodes/nodes.ts';
import { observeWorkstreams } from './observer.ts';
import { createPresence, type Presence } from './presence.ts';
import { createGatewayServer, type GatewayServer } from './server.ts';
import type { Store } from './store/store.ts';
import { AgentEvents } from './streams/agent-events.ts';
import type { EventStreams } from './streams/event-streams.ts';
import { UnseenEnds } from './streams/unseen-ends.ts';
import { WorkstreamStreams } from './streams/workstream-streams.ts';
import { Heartbeats } from './wake/heartbeats.ts';
import { createSystemEvents } from './wake/system-events.ts';
import { Approvals } from './workstreams/approvals.ts';
import { Commands } from './workstreams/commands.ts';
import { createMessages } from './workstreams/history.ts';
import { createNotes } from './workstreams/notes.ts';
import { recoverRuns, restoreState } from './workstreams/recovery.ts';
import { Runs } from './workstreams/runs.ts';
import { createSavedWorkstreams } from './workstreams/saved-workstreams.ts';
import { Settings } from './workstreams/settings.ts';
import { createSnapshots } from './workstreams/snapshot.ts';
import { Workstreams } from './workstreams/workstreams.ts';

export interface GatewayDeps {
  store: Store;
  /** For people who ask where sessions are kept. */
  storePath: string;
  lastAliveMs: number | undefined;
  /** What a person should know of this start: files that were damaged. */
  startNotices: readonly string[];
  models: Models;
  nodes: Nodes;
  toolbox: Toolbox;
  notSandboxed: string | undefined;
  killLeftover(process: ProcessIdentity): Promise<unknown>;
  resolveWorkdir(asked?: string): Promise<string>;
  readOutput: OutputMethodDeps['readOutput'];
  webhooks: Pick<WebhookDeps, 'destinations' | 'fetch'>;
  auth: AuthMethodDeps & TokenMethodDeps;
  authenticator: Authenticator;
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
  server: { version: string; host: string; nodeId: string; platform: string };
  live: LiveSettings;
  configFile: ConfigFile;
  tickIntervalMs?: number;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** What `log` has written lately. */
  logRing: Pick<LogRing, 'tail'>;
}

/** The core of the daemon: one dispatch, one event log, one set of workstreams, and a WebSocket side. */
export interface Gateway {
  dispatch: Dispatch;
  streams: EventStreams;
  metrics: Metrics;
  health: Health;
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
  const broadcast = createBroadcast({
    onInvalid: (event, problem) => log.error({ event, err: problem }, 'an event does not fit its own schema'),
  });
  deps.nodes.onAnnouncement((event, payload) => broadcast.publish(event, payload));
  const parts = createParts(deps, { broadcast, metrics, stopping: stopping.signal });
  const { workstreams, events, streams, recover } = parts;
  const states = () => workstreams.list().map(({ data }) => data.state);
  const health = new Health({ ...deps.server, ...deps, states });
  const idempotency = createIdempotency({ store, clock, log });
  const handlers = createHandlers(deps, { ...parts, broadcast, presence, health });
  const dispatch = createDispatch({ handlers, idempotency, metrics, clock, log });
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
  mirrorState(metrics, { health, workstreams, sockets });
  return {
    dispatch,
    streams,
    metrics,
    health,
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
        health.run(signal, publish),
      ]);
    },
    async shutdown(reason) {
      stopping.abort(new Error(reason));
      await Promise.all([sockets.shutdown(reason), workstreams.shutdown()]);
    },
  };
}

/** The parts that carry conversations, joined. */
function createParts(deps: GatewayDeps, around: { broadcast: Broadcast; metrics: Metrics; stopping: AbortSignal }) {
  const { store, models, clock, ids, log } = deps;
  const events = new EventLog({ store, log });
  const messages = createMessages(store);
  const notes = createNotes(store);
  const unseenEnds = new UnseenEnds({ clock, events });
  const agentEvents = new AgentEvents({
    events,
    clock,
    stopping: around.stopping,
    send: (wsId, { event, payload }) => around.broadcast.toWatchers(event, wsId, JSON.stringify(payload)),
  });
  const observer = observeWorkstreams({ ...around, agentEvents, unseenEnds });
  const workstreams: Workstreams = new Workstreams({
    ...deps,
    ...observer,
    observer: {
      ...observer,
      onEnded(...ended) {
        observer.onEnded(...ended);
        outbox.wake(); // the end may have sent the answer on its way
      },
    },
    events,
    stopping: around.stopping,
    onLoaded(data) {
      streams.announce(data);
      observer.onLoaded(data);
    },
    loadContext: async ({ wsId, contextAfterSeq, messageCount }) => {
      const all = { after: contextAfterSeq, upTo: messageCount, limit: Number.MAX_SAFE_INTEGER };
      return (await messages.page(wsId, all)).map(({ message }) => message);
    },
  });
  const { channels, outbox } = createWayOut(deps, workstreams);
  const snapshots = createSnapshots({ messages, notes, events });
  const streams = new WorkstreamStreams({ workstreams, snapshots, events, unseenEnds });
  const systemEvents = createSystemEvents({ store, clock });
  const runs = new Runs({ store, ids, queued: systemEvents });
  const settings = new Settings({ store, workstreams, models, clock });
  return {
    events,
    messages,
    notes,
    workstreams,
    snapshots,
    streams,
    runs,
    channels,
    outbox,
    systemEvents,
    heartbeats: new Heartbeats({
      ...deps,
      ...{ workstreams, runs, systemEvents },
      publish: (event) => around.broadcast.publish('heartbeat', event),
    }),
    settings,
    approvals: new Approvals({ workstreams, store }),
    commands: new Commands({ store, messages, settings, models, clock, ids }),
    saved: createSavedWorkstreams(store),
    async recover() {
      await systemEvents.load();
      const recovered = await recoverRuns({ ...deps, nowMs: clock.now() });
      await workstreams.load(recovered, (data, run) => restoreState(data, run, store));
      for (const handle of await workstreams.adopt(recovered)) runs.track(handle);
      log.info({ workstreams: workstreams.list().length }, 'ready');
    },
  };
}

/** How messages leave. */
function createWayOut({ webhooks, store, clock, log }: GatewayDeps, workstreams: Workstreams) {
  const channels = createChannels([
    createWebhookChannel({ ...webhooks, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
  ]);
  return { channels, outbox: new Outbox({ channels, store, clock, log }) };
}

type Parts = ReturnType<typeof createParts>;

const createHandlers = (
  deps: GatewayDeps,
  parts: Parts & { broadcast: Broadcast; presence: Presence; health: Health },
): Handlers => ({
  ...healthMethods(parts.health),
  ...statusMethods({ ...deps, ...parts }),
  ...systemMethods(parts),
  ...wakeMethods(parts),
  ...voicewakeMethods({ ...deps, ...parts }),
  ...agentMethods({ ...deps, ...parts }),
  ...chatMethods({ ...deps, ...parts }),
  ...sendMethods({ ...deps, ...parts }),
  ...sessionsMethods({ ...deps, ...parts }),
  ...modelsMethods(deps),
  ...logsMethods(deps),
  ...configMethods(deps),
  ...eventsMethods(parts),
  ...workstreamMethods(parts),
  ...outputMethods({ ...deps, ...parts }),
  ...approvalMethods(parts.approvals),
  ...nodeMethods({ ...deps, ...parts }),
  ...authMethods(deps.auth),
  ...tokenMethods(deps.auth),
});

function mirrorState(
  metrics: Metrics,
  { health, workstreams, sockets }: { health: Health; workstreams: Workstreams; sockets: GatewayServer },
): void {
  metrics.mirror({
    build: () => health.summary(),
    uptimeSeconds: () => health.summary().uptimeSeconds,
    workstreams: () => health.summary().workstreams,
    contextUsedRatio: () => {
      const [latest] = workstreams.list().sort((a, b) => b.data.updatedMs - a.data.updatedMs);
      return (latest?.data.status()?.pct ?? 0) / 100;
    },
    gatewayConnections: () => sockets.connections,
    backend: () => health.summary().backend,
  });
}
