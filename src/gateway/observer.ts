import type { Broadcast } from './connections/broadcast.ts';
import type { EventLog } from './events/event-log.ts';
import type { Metrics } from './metrics.ts';
import { toQueuedEvent, toQueuedMessages } from './queue/queue-changes.ts';
import type { AgentEvents } from './streams/agent-events.ts';
import type { GlobalEvents } from './streams/global-events.ts';
import type { UnseenRuns } from './streams/unseen-runs.ts';
import type { Unloading } from './workstreams/closing.ts';
import type { WorkstreamData } from './workstreams/workstream-data.ts';
import type { WorkstreamObserver } from './workstreams/workstream-deps.ts';

interface Shared {
  broadcast: Broadcast;
  metrics: Metrics;
}

interface ObserverDeps {
  agentEvents: AgentEvents;
  unseenRuns: UnseenRuns;
  global: Pick<GlobalEvents, 'loaded' | 'unloaded'>;
  events: Pick<EventLog, 'bounds' | 'transient'>;
  /** The set of loaded sessions has changed. */
  onSessions(): void;
  /** An answer may have been queued for delivery together with the end of its run. */
  onAnswer(): void;
}

/** Reports events of workstreams to the rest of the gateway. */
export function observeWorkstreams(
  { broadcast, metrics }: Shared,
  { agentEvents, unseenRuns, global, events, onSessions, onAnswer }: ObserverDeps,
): WorkstreamObserver & {
  onLoaded(data: WorkstreamData): void;
  onUnloaded(data: WorkstreamData, reason: Unloading): void;
} {
  return {
    onRunning({ wsId, sessionKey, messageCount }, { runId, source }) {
      agentEvents.begin({ wsId, runId, sessionKey });
      const place = { after: events.bounds(wsId).last, upTo: messageCount };
      unseenRuns.begun(wsId, source === 'person' ? place : undefined);
    },
    onEnded(_data, _run, { status }) {
      if (status !== 'ok' && status !== 'cancelled') metrics.error();
      onAnswer();
    },
    onDropped: ({ wsId, sessionKey }, { runId }) => agentEvents.dropped({ wsId, runId, sessionKey }),
    onSteered: ({ wsId, sessionKey }, { runId }, ended) =>
      void ended.then((result) => agentEvents.followed({ wsId, runId, sessionKey }, result)),
    onQueued: ({ wsId }, run) => events.transient(wsId, JSON.stringify(toQueuedEvent(run))),
    onQueue: ({ wsId }, queue) => broadcast.publish('queue.changed', { wsId, messages: toQueuedMessages(queue) }),
    onApprovalRequested: (approval) => broadcast.publish('approval.requested', approval),
    onApprovalResolved: (resolved) => broadcast.publish('approval.resolved', resolved),
    onUsage({ usage, spent = usage, droppedThoughts = 0 }) {
      metrics.thoughtsDropped(droppedThoughts);
      metrics.tokens('prompt', spent.promptTokens);
      metrics.tokens('completion', spent.completionTokens);
      metrics.tokens('cache_creation', spent.cacheCreationTokens);
      metrics.tokens('cache_read', spent.cacheReadTokens);
    },
    onToolStarted: (tool) => metrics.toolCall(tool),
    onMessage: () => metrics.messageSent(),
    onLoaded(data) {
      global.loaded(data);
      broadcast.publish('workstream.opened', { wsId: data.wsId });
      onSessions();
    },
    onUnloaded(data, reason) {
      if (reason === 'evicted') metrics.evicted();
      global.unloaded(data, reason);
      broadcast.publish('workstream.closed', { wsId: data.wsId });
      onSessions();
    },
  };
}
