import type { Broadcast } from './connections/broadcast.ts';
import type { EventLog } from './events/event-log.ts';
import type { Metrics } from './metrics.ts';
import { toQueuedMessages } from './queue/queue-changes.ts';
import type { AgentEvents } from './streams/agent-events.ts';
import type { UnseenRuns } from './streams/unseen-runs.ts';
import type { WorkstreamData } from './workstreams/workstream-data.ts';
import type { WorkstreamObserver } from './workstreams/workstream-deps.ts';

interface ObserverDeps {
  broadcast: Broadcast;
  metrics: Metrics;
  agentEvents: AgentEvents;
  unseenRuns: UnseenRuns;
  events: Pick<EventLog, 'bounds'>;
  /** The set of loaded sessions has changed. */
  onSessions(): void;
  /** An answer may have been queued for delivery together with the end of its run. */
  onAnswer(): void;
}

/** Reports events of workstreams to the rest of the gateway. */
export function observeWorkstreams({
  broadcast,
  metrics,
  agentEvents,
  unseenRuns,
  events,
  onSessions,
  onAnswer,
}: ObserverDeps): WorkstreamObserver & {
  onLoaded(data: WorkstreamData): void;
  onUnloaded(data: WorkstreamData): void;
  onEvicted(): void;
} {
  return {
    onRunning(data, { runId, source }) {
      const { wsId, messageCount } = data;
      agentEvents.begin(data, runId);
      const place = { after: events.bounds(wsId).last, upTo: messageCount };
      unseenRuns.begun(wsId, source === 'person' ? place : undefined);
    },
    onEnded(_data, _run, { status }) {
      if (status !== 'ok' && status !== 'cancelled') metrics.error();
      onAnswer();
    },
    onDropped: (data, { runId }) => agentEvents.dropped(data, runId),
    onSteered: (data, { runId }, ended) => void ended.then((result) => agentEvents.followed(data, runId, result)),
    onQueue: (data, queue) =>
      broadcast.publishOf(data, 'queue.changed', { wsId: data.wsId, messages: toQueuedMessages(queue) }),
    onApprovalRequested: (data, approval) => broadcast.publishOf(data, 'approval.requested', approval),
    onApprovalResolved: (data, resolved) => broadcast.publishOf(data, 'approval.resolved', resolved),
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
      broadcast.publishOf(data, 'workstream.opened', { wsId: data.wsId });
      onSessions();
    },
    onUnloaded(data) {
      broadcast.publishOf(data, 'workstream.closed', { wsId: data.wsId });
      onSessions();
    },
    onEvicted: () => metrics.evicted(),
  };
}
