import type { CronEvent } from '../../protocol/cron.ts';
import type { HeartbeatEvent } from '../../protocol/methods/wake.ts';
import type { Clock } from '../clock.ts';
import { Attachments } from './attachments/attachments.ts';
import { createChannels } from './channels/channels.ts';
import { Outbox } from './channels/delivery-queue.ts';
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

/** The parts that carry conversations, joined. */
export function createParts(
  deps: GatewayDeps,
  around: { broadcast: Broadcast; metrics: Metrics; idempotency: Idempotency; stopping: AbortSignal },
) {
  const { store, models, clock, log } = deps;
  const stored = createStored(deps, around.idempotency);
  const { events, messages, notes, attachments, always } = stored;
  const unseenRuns = new UnseenRuns({ clock, events });
  const agentEvents = createAgentEvents(events, { ...around, clock });
  const onSessions = () => sessions.refresh();
  const observer = observeWorkstreams({ ...around, agentEvents, unseenRuns, events, onSessions });
  const workstreams: Workstreams = new Workstreams({
    ...deps,
    ...stored,
    ...observer,
    observer: {
      ...observer,
      onEnded(...ended) {
        observer.onEnded(...ended);
        outbox.wake(); // the end may have sent the answer on its way
      },
    },
    stopping: around.stopping,
    onLoaded(data) {
      streams.announce(data);
      observer.onLoaded(data);
    },
    loadContext: (data) => messages.context(data),
    readAttachment: (attachment) => attachments.read(attachment),
    onRemoved: () => {
      onSessions();
      return attachments.sweep();
    },
  });
  const sessions = createSessionList({ ...deps, workstreams, always });
  const { channels, outbox } = createWayOut(deps, workstreams);
  const snapshots = createSnapshots({ messages, notes, events });
  const streams = new WorkstreamStreams({ workstreams, snapshots, events, unseenRuns });
  const { systemEvents, runs, heartbeats } = createRuns(deps, workstreams, around.broadcast);
  const settings = new Settings({ store, workstreams, models, always, clock });
  const commands = new Commands({ ...deps, messages, settings });
  const publish = (event: CronEvent) => around.broadcast.publish('cron', event);
  const cron = createCron({ ...deps, workstreams, runs, commands, channels, systemEvents, heartbeats, publish });
  return {
    ...stored,
    workstreams,
    snapshots,
    streams,
    runs,
    channels,
    outbox,
    systemEvents,
    heartbeats,
    settings,
    approvals: new Approvals({ workstreams, store }),
    commands,
    cron,
    saved: createSavedWorkstreams(store),
    sessions,
    async recover() {
      await attachments.sweep();
      await systemEvents.load();
      const recovered = await recoverRuns({ ...deps, nowMs: clock.now() });
      await workstreams.load(recovered, (data, run) => restoreState(data, run, store));
      for (const handle of await workstreams.adopt(recovered)) runs.track(handle);
      await restoreUnseen(workstreams, { ...deps, unseenRuns, events });
      const wakes = systemEvents.wakes();
      if (wakes !== undefined) heartbeats.wake(wakes); // the last process could not
      log.info({ workstreams: workstreams.list().length }, 'ready');
    },
  };
}

/** Runs as protocol-2 clients see them. */
const createAgentEvents = (
  events: EventLog,
  { broadcast, clock, stopping }: { broadcast: Broadcast; clock: Clock; stopping: AbortSignal },
) =>
  new AgentEvents({
    ...{ events, clock, stopping },
    send: (wsId, { event, payload }) => broadcast.toWatchers(event, wsId, JSON.stringify(payload)),
  });

/** What is read and kept beside the workstreams themselves. */
const createStored = (deps: GatewayDeps, idempotency: Idempotency) => ({
  events: new EventLog(deps),
  messages: createMessages(deps.store),
  notes: createNotes(deps.store),
  always: new AlwaysRules(deps),
  folders: new Folders(deps),
  attachments: new Attachments({ ...deps, files: deps.attachmentFiles, idempotency }),
});

/** The runs, and what the main session's turns carry or are made for besides. */
function createRuns(deps: GatewayDeps, workstreams: Workstreams, broadcast: Broadcast) {
  const systemEvents = createSystemEvents(deps);
  const runs = new Runs({ ...deps, queued: systemEvents });
  const publish = (event: HeartbeatEvent) => broadcast.publish('heartbeat', event);
  return { systemEvents, runs, heartbeats: new Heartbeats({ ...deps, workstreams, runs, systemEvents, publish }) };
}

/** How messages leave. */
function createWayOut({ webhooks, store, clock, log }: GatewayDeps, workstreams: Workstreams) {
  const channels = createChannels([
    createWebhookChannel({ ...webhooks, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
  ]);
  return { channels, outbox: new Outbox({ channels, store, clock, log }) };
}

export type Parts = ReturnType<typeof createParts>;
