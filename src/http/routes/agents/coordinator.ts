import { coordinatorEndpoints } from '../../../../protocol/http/agents/coordinator.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind, given } from '../../bind.ts';
import { iso } from '../../iso.ts';

const trust = {
  params: ({ ws_id, send }: { ws_id: string; send?: unknown }) => ({ wsId: ws_id, send: send === true }),
  reply: ({ status, trustSend, trustUntilMs }: Result<'coordinator.trust'>) => ({
    status,
    trust_send: trustSend,
    ...(trustUntilMs !== undefined && { trust_until_ms: trustUntilMs }),
  }),
};

const restrict = {
  params: ({ ws_id, revoke }: { ws_id: string; revoke?: unknown }) => ({
    wsId: ws_id,
    revoke: Array.isArray(revoke) ? revoke.map(String) : [], // the endpoint has checked that these are texts
  }),
  reply: ({ status, revokedTools }: Result<'coordinator.restrict'>) => ({ status, revoked_tools: revokedTools }),
};

const stop = {
  params: ({ ws_id }: { ws_id: string }) => ({ wsId: ws_id }),
  reply: ({ status, cancelled, failed, skipped }: Result<'coordinator.stop'>) => ({
    status,
    cancelled,
    failed,
    skipped,
  }),
};

export const coordinatorRoutes = [
  bind(coordinatorEndpoints.trust, 'coordinator.trust', trust),
  bind(coordinatorEndpoints.trustLater, 'coordinator.trust', trust),
  bind(coordinatorEndpoints.restrict, 'coordinator.restrict', restrict),
  bind(coordinatorEndpoints.restrictLater, 'coordinator.restrict', restrict),
  bind(coordinatorEndpoints.stop, 'coordinator.stop', stop),
  bind(coordinatorEndpoints.stopLater, 'coordinator.stop', stop),
  bind(coordinatorEndpoints.close, 'coordinator.close', {
    params: ({ ws_id, reason }) => ({ wsId: ws_id, reason: given(reason) }),
    reply: ({ status, closed, failed, skipped }) => ({ status, closed, failed, skipped }),
  }),
  bind(coordinatorEndpoints.children, 'coordinator.children', {
    params: ({ ws_id, limit }) => ({ wsId: ws_id, limit }),
    reply: ({ items, truncated }) => ({
      items: items.map(({ wsId, nodeId, name, state, isOpen, createdMs, updatedMs, kind, parentWsId, ...child }) => ({
        ws_id: wsId,
        node_id: nodeId,
        name,
        state: isOpen ? state : ('closed' as const),
        created: iso(createdMs),
        updated: iso(updatedMs),
        kind,
        parent_ws_id: parentWsId,
        skill_id: child.skill,
        skill_version: child.skillVersion,
      })),
      truncated,
    }),
  }),
  bind(coordinatorEndpoints.tasks, 'coordinator.tasks', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ version, tasks }) => ({
      version,
      tasks: tasks.map(({ id, title, status, childWsId, note, createdMs, updatedMs }) => ({
        id,
        title,
        status,
        child_ws_id: childWsId,
        note,
        created: iso(createdMs),
        updated: iso(updatedMs),
      })),
    }),
  }),
  bind(coordinatorEndpoints.metrics, 'coordinator.metrics', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: (metrics) => ({
      ws_id: metrics.wsId,
      spawns_total: metrics.spawnsTotal,
      spawns_last_hour: metrics.spawnsLastHour,
      child_state_counts: metrics.childStates,
      judge_fallback_rate: metrics.judgeFallbackRate,
      intent_verdicts_sample: metrics.verdictSample,
      wait_completions: metrics.waitCompletions,
      wait_timeouts: metrics.waitTimeouts,
      wait_avg_elapsed: metrics.waitAvgElapsedMs / 1_000,
    }),
  }),
];
