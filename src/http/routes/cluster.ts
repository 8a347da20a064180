import type { z } from 'zod';
import type { ClusterNode, ClusterOverview, ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';
import { clusterEndpoints } from '../../../protocol/http/cluster.ts';
import { bind } from '../bind.ts';
import { iso } from '../iso.ts';
import { toWaiting } from './waiting.ts';
import { toPending } from './workstream-line.ts';

const toWorkstream = (one: ClusterWorkstream) => ({
  id: one.wsId,
  name: one.name,
  state: one.state,
  node: one.nodeId,
  title: one.title,
  tokens: one.tokens,
  context_ratio: one.contextRatio,
  activity: one.activity,
  activity_state: one.activityState,
  tool_calls: one.toolCalls,
  ...toWaiting(one),
});

const toNode = ({ nodeId, serverUrl, workstreams, health, ...node }: ClusterNode) => ({
  node_id: nodeId,
  server_url: serverUrl,
  state: node.state,
  ws_total: workstreams.total,
  ws_running: workstreams.running,
  ws_thinking: workstreams.thinking,
  ws_attention: workstreams.attention,
  ws_idle: workstreams.idle,
  ws_error: workstreams.error,
  total_tokens: node.totalTokens,
  started: iso(node.startedMs),
  reachable: node.reachable,
  health: health && {
    status: health.status,
    backend: { status: health.backend.status, circuit_state: health.backend.circuitState },
  },
  version: node.version,
  labels: node.labels,
});

const toOverview = ({ nodes, workstreams, states, versions, ...overview }: ClusterOverview) => ({
  nodes,
  workstreams,
  states,
  aggregate: { total_tokens: overview.totalTokens, total_tool_calls: overview.totalToolCalls },
  version_drift: overview.versionDrift,
  versions,
});

interface Snapshot {
  overview: ClusterOverview;
  nodes: ClusterNode[];
  workstreams: ClusterWorkstream[];
  atMs: number;
}

/** Each machine with its workstreams. */
export const toSnapshotReply = ({
  overview,
  nodes,
  workstreams,
  atMs,
}: Snapshot): z.input<ReturnType<typeof clusterEndpoints.snapshot.reply>> => ({
  overview: toOverview(overview),
  nodes: nodes.map((node) => ({
    ...toNode(node),
    workstreams: workstreams.filter(({ nodeId }) => nodeId === node.nodeId).map(toWorkstream),
  })),
  timestamp: iso(atMs),
});

export const clusterRoutes = [
  bind(clusterEndpoints.overview, 'cluster.overview', { params: () => ({}), reply: toOverview }),
  bind(clusterEndpoints.nodes, 'cluster.nodes', {
    params: ({ sort, limit, offset }) => ({ sort, limit, offset }),
    reply: ({ nodes, total }) => ({ nodes: nodes.map(toNode), total }),
  }),
  bind(clusterEndpoints.workstreams, 'cluster.workstreams', {
    fieldNames: { nodeId: 'node' },
    params: ({ state, node, search, page, per_page, sort }) => ({
      state,
      nodeId: node || undefined,
      search,
      page,
      perPage: per_page,
      sort,
    }),
    reply: ({ workstreams, total, page, perPage, pages }) => ({
      workstreams: workstreams.map(toWorkstream),
      total,
      page,
      per_page: perPage,
      pages,
    }),
  }),
  bind(clusterEndpoints.node, 'cluster.node', {
    params: ({ node_id }) => ({ nodeId: node_id }),
    reply: ({ node, workstreams }) => ({ ...toNode(node), workstreams: workstreams.map(toWorkstream) }),
  }),
  bind(clusterEndpoints.snapshot, 'cluster.snapshot', { params: () => ({}), reply: toSnapshotReply }),
  bind(clusterEndpoints.locate, 'cluster.locate', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ nodeId, serverUrl }) => ({ node_url: serverUrl, node_id: nodeId }),
  }),
  bind(clusterEndpoints.live, 'cluster.live', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ nodeId, workstream, pendingApproval: asked }, { ws_id }) => ({
      ws_id,
      node_id: nodeId,
      live: workstream ? { ...toWorkstream(workstream), pending_approval: asked ? toPending(asked) : null } : null,
    }),
  }),
  bind(clusterEndpoints.move, 'cluster.move', {
    params: ({ ws_id, target_node }) => ({ wsId: ws_id, nodeId: target_node }),
    fieldNames: { nodeId: 'target_node' },
    reply: ({ nodeId, serverUrl, moved }) => ({ status: 'ok' as const, node_url: serverUrl, node_id: nodeId, moved }),
  }),
  bind(clusterEndpoints.remove, 'workstream.delete', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: (_, { ws_id }) => ({ status: 'ok' as const, deleted: ws_id }),
  }),
];
