import type { Usage } from '../agent/providers/model.ts';
import type { DeliveryQueue } from './channels/delivery-queue.ts';
import type { Broadcast } from './connections/broadcast.ts';
import type { ChildNews } from './coordinators/child-news.ts';
import { tellPhase } from './events/compaction-events.ts';
import type { EventLog } from './events/event-log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Push } from './push/push-noun.ts';
import { toDispatchedEvent, toDroppedEvent, toQueuedEvent, toQueuedMessages } from './queue/queue-changes.ts';
import type { AgentEvents } from './streams/agent-events.ts';
import type { GlobalEvents } from './streams/global-events.ts';
import type { UnseenRuns } from './streams/unseen-runs.ts';
import type { Titles } from './titles/titles.ts';
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
  global: Pick<GlobalEvents, 'loaded' | 'unloaded' | 'moved'>;
  childNews: Pick<ChildNews, 'loaded' | 'unloaded'>;
  events: Pick<EventLog, 'bounds' | 'transient'>;
  /** The set of loaded sessions has changed. */
  onSessions(): void;
  titles: Pick<Titles, 'runEnded'>;
  /** A workstream may be idle now. */
  onFree(): void;
  /** An answer, a question or a decision may have been queued for delivery. */
  outbox(): { deliveries: Pick<DeliveryQueue, 'wake'>; push: Pick<Push, 'asked' | 'decided'> };
}

/** Reports events of workstreams to the rest of the gateway. */
export function observeWorkstreams(
  { broadcast, metrics }: Shared,
  { agentEvents, unseenRuns, global, childNews, events, titles, onSessions, onFree, outbox }: ObserverDeps,
): WorkstreamObserver & {
  onLoaded(data: WorkstreamData): void;
  onUnloaded(data: WorkstreamData, reason: Unloading): void;
} {
  return {
    onRunning(data, { runId, source }) {
      const { wsId, messageCount } = data;
      agentEvents.begin(data, runId);
      const place = { after: events.bounds(wsId).last, upTo: messageCount };
      unseenRuns.begun(wsId, source === 'person' ? place : undefined);
    },
    onEnded(data, run, result) {
      const { status } = result;
      if (status !== 'ok' && status !== 'cancelled') metrics.error();
      titles.runEnded(data, run, result);
      outbox().deliveries.wake();
    },
    onDropped(data, { runId }) {
      events.transient(data.wsId, JSON.stringify(toDroppedEvent(runId)), runId);
      agentEvents.dropped(data, runId);
    },
    onSteered(data, { runId }, { into, ended }) {
      events.transient(data.wsId, JSON.stringify(toDispatchedEvent(runId, into)), runId);
      void ended.then((result) => agentEvents.followed(data, runId, result));
    },
    onDispatched: ({ wsId }, { runId }) =>
      events.transient(wsId, JSON.stringify(toDispatchedEvent(runId, runId)), runId),
    onSummary: ({ wsId }, phase) => tellPhase(events, wsId, phase),
    onQueued: ({ wsId }, run) => events.transient(wsId, JSON.stringify(toQueuedEvent(run)), run.runId),
    onQueue: (data, queue) =>
      broadcast.publishOf(data, 'queue.changed', { wsId: data.wsId, messages: toQueuedMessages(queue) }),
    onApprovalRequested(data, approval) {
      broadcast.publishOf(data, 'approval.requested', approval);
      outbox().push.asked(data, approval);
      outbox().deliveries.wake(); // its chat is asked, too
    },
    onApprovalResolved(data, resolved) {
      broadcast.publishOf(data, 'approval.resolved', resolved);
      outbox().push.decided(resolved.approvalId);
      outbox().deliveries.wake();
    },
    onUsage({ usage, spent = usage, droppedThoughts = 0 }) {
      metrics.thoughtsDropped(droppedThoughts);
      countTokens(metrics, spent);
    },
    onVerdicts(verdicts = []) {
      for (const { verdict } of verdicts) metrics.verdict(verdict.tier, verdict.risk_level);
    },
    onNudged: (kind) => metrics.memoryNudge(kind),
    onToolStarted: (tool) => metrics.toolCall(tool),
    onFree,
    onMessage: () => metrics.messageSent(),
    onLoaded(data) {
      global.loaded(data);
      childNews.loaded(data);
      broadcast.publishOf(data, 'workstream.opened', { wsId: data.wsId });
      onSessions();
    },
    onUnloaded(data, reason) {
      if (reason === 'evicted') metrics.evicted();
      childNews.unloaded(data, reason);
      if (reason === 'moved') {
        global.moved(data.wsId); // clients hear of it from the other machine
      } else {
        global.unloaded(data, reason);
        broadcast.publishOf(data, 'workstream.closed', { wsId: data.wsId });
      }
      onSessions();
    },
  };
}

/** Adds the tokens of a request to the metrics. */
export function countTokens(metrics: Pick<Metrics, 'tokens'>, used: Usage): void {
  metrics.tokens('prompt', used.promptTokens);
  metrics.tokens('completion', used.completionTokens);
  metrics.tokens('cache_creation', used.cacheCreationTokens);
  metrics.tokens('cache_read', used.cacheReadTokens);
}
