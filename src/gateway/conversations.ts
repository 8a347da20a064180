import type { CronEvent } from '../../protocol/cron.ts';
import type { HeartbeatEvent } from '../../protocol/methods/wake.ts';
import type { Clock } from '../clock.ts';
import { Attachments } from './attachments/attachments.ts';
import { createChannels } from './channels/channels.ts';
import { DeliveryQueue } from './channels/delivery-queue.ts';
import { createWebhookChannel } from './channels/webhook.ts';
import { createWorkstreamChannel } from './channels/workstream-note.ts';
import type { Broadcast } from './connections/broadcast.ts';
import { createCron } from './cron/create-cron.ts';
import { EventLog } from './events/event-log.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { createMessages } from './history/history.ts';
import { createNotes } from './history/notes.ts';
import { createSnapshots } from './history/snapshot.ts';
import type { Idempotency } from './idempotency.ts';
import type { Metrics } from './metrics.ts';
import { observeWorkstreams } from './observer.ts';
import { Approvals } from './runs/approvals.ts';
import { recoverRuns, restoreState } from './runs/recovery.ts';
import { Runs } from './runs/runs.ts';
import { AgentEvents } from './streams/agent-events.ts';
import { restoreUnseen } from './streams/restore-unseen.ts';
import { UnseenRuns } from './streams/unseen-runs.ts';
import { WorkstreamStreams } from './streams/workstream-streams.ts';
import { Heartbeats } from './wake/heartbeats.ts';
import { createSystemEvents } from './wake/system-events.ts';
import { AlwaysRules } from './workstreams/always.ts';
import { Commands } from './workstreams/commands.ts';
import { Folders } from './workstreams/folders.ts';
import { createSavedWorkstreams } from './workstreams/saved-workstreams.ts';
import { createSessionList } from './workstreams/session-list.ts';
import { Settings } from './workstreams/settings.ts';
import { Workstreams } from './workstreams/workstreams.ts';

/** What conversations share with the rest of the gateway. */
interface Around {
  broadcast: Broadcast;
  metrics: Metrics;
  idempotency: Idempotency;
  /** Writes queued frames to clients. */
  flush(): void;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** The stored parts of conversations: logs, messages, files and standing permissions. */
function createRecords(deps: GatewayDeps, { idempotency, flush }: Pick<Around, 'idempotency' | 'flush'>) {
  const { store, workdirs, live, authenticator, attachmentFiles, clock, ids, log } = deps;
  return {
    events: new EventLog({ store, log, onOffered: flush }),
    messages: createMessages(store),
    notes: createNotes(store),
    always: new AlwaysRules({ live, authenticator, clock }),
    folders: new Folders({ store, workdirs }),
    attachments: new Attachments({ store, files: attachmentFiles, idempotency, clock, ids, log }),
    systemEvents: createSystemEvents({ store, clock }),
    saved: createSavedWorkstreams(store),
  };
}
type Records = ReturnType<typeof createRecords>;

/** Connects all parts of conversations. */
export function createConversations(deps: GatewayDeps, around: Around) {
  const records = createRecords(deps, around);
  const talks = createTalks(deps, { around, records });
  const turns = createTurns(deps, { around, records, talks });
  return {
    records,
    talks,
    turns,
    /** Loads open workstreams and continues the runs of the previous process. */
    recover: () => recover(deps, { records, talks, turns }),
  };
}

/** The open workstreams, and the receivers of their events. */
function createTalks(deps: GatewayDeps, { around, records }: { around: Around; records: Records }) {
  const { store, models, toolbox, workdirs, notSandboxed, live, webhooks, clock, ids, log } = deps;
  const { events, messages, notes, attachments, always } = records;
  const { broadcast, metrics, stopping } = around;
  const unseenRuns = new UnseenRuns({ clock, events });
  const agentEvents = createAgentEvents(events, { broadcast, clock, stopping });
  const onSessions = () => sessions.refresh();
  const observer = observeWorkstreams({ broadcast, metrics, agentEvents, unseenRuns, events, onSessions });
  const workstreams: Workstreams = new Workstreams({
    ...{ store, models, toolbox, workdirs, notSandboxed, live, always, events, stopping, clock, ids, log },
    observer: {
      ...observer,
      onEnded(...ended) {
        observer.onEnded(...ended);
        deliveries.wake(); // the answer may have been queued with the end
      },
    },
    loadContext: (data) => messages.context(data),
    readAttachment: (attachment) => attachments.read(attachment),
    onLoaded(data) {
      streams.announce(data);
      observer.onLoaded(data);
    },
    onUnloaded: observer.onUnloaded,
    onRemoved: () => {
      onSessions();
      return attachments.sweep();
    },
    onEvicted: observer.onEvicted,
  });
  const sessions = createSessionList({ workstreams, store, models, always, log });
  const channels = createChannels([
    createWebhookChannel({ destinations: webhooks.destinations, fetch: webhooks.fetch, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
  ]);
  const deliveries = new DeliveryQueue({ channels, store, clock, log });
  const snapshots = createSnapshots({ messages, notes, events });
  const streams = new WorkstreamStreams({ workstreams, snapshots, events, unseenRuns });
  return { workstreams, sessions, channels, deliveries, snapshots, streams, unseenRuns };
}
type Talks = ReturnType<typeof createTalks>;

/** Everything that starts turns: people, programs, heartbeats and jobs. */
function createTurns(
  deps: GatewayDeps,
  { around, records, talks }: { around: Around; records: Records; talks: Talks },
) {
  const { store, models, toolbox, live, hostTimeZone, clock, ids, log } = deps;
  const { messages, always, systemEvents } = records;
  const { workstreams, channels } = talks;
  const runs = new Runs({ store, ids, queued: systemEvents });
  const settings = new Settings({ store, workstreams, models, always, clock });
  const commands = new Commands({ store, messages, settings, models, clock, ids, log });
  const heartbeats = new Heartbeats({
    ...{ workstreams, runs, systemEvents, live, clock, log },
    publish: (event: HeartbeatEvent) => around.broadcast.publish('heartbeat', event),
  });
  const cron = createCron({
    ...{ workstreams, runs, commands, channels, systemEvents, heartbeats, toolbox, store, live, hostTimeZone },
    ...{ clock, ids, log },
    publish: (event: CronEvent) => around.broadcast.publish('cron', event),
  });
  return { runs, settings, commands, heartbeats, cron, approvals: new Approvals({ workstreams, store }) };
}
type Turns = ReturnType<typeof createTurns>;

/** Runs as protocol-2 clients see them. */
const createAgentEvents = (
  events: EventLog,
  { broadcast, clock, stopping }: { broadcast: Broadcast; clock: Clock; stopping: AbortSignal },
) =>
  new AgentEvents({
    ...{ events, clock, stopping },
    send: (wsId, { event, payload }) => broadcast.toWatchers(event, wsId, JSON.stringify(payload)),
  });

async function recover(
  { store, lastAliveMs, killLeftover, clock, log }: GatewayDeps,
  { records: { events }, talks, turns }: { records: Records; talks: Talks; turns: Turns },
): Promise<void> {
  const { workstreams, unseenRuns } = talks;
  const recovered = await recoverRuns({ store, lastAliveMs, killLeftover, nowMs: clock.now(), log });
  await workstreams.load(recovered, (data, run) => restoreState(data, run, store));
  for (const handle of await workstreams.adopt(recovered)) turns.runs.track(handle);
  await restoreUnseen(workstreams, { unseenRuns, events, store, clock, log });
}

export type Conversations = ReturnType<typeof createConversations>;
