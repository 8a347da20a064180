import { z } from 'zod';
import { ClusterNode, ClusterSort } from '../cluster/cluster-methods.ts';
import { CLUSTER_EVENTS } from '../events/cluster.ts';
import { activityShape, usageShape } from '../events/global.ts';
import { WorkstreamState } from '../stream-events.ts';
import { endpoint } from './endpoint.ts';
import { WAITING_FIELD } from './waiting.ts';
import { workstreamEndpoints } from './workstream.ts';
import { workstreamLineEndpoints } from './workstream-line.ts';

const Count = z.int().min(0);
const NO_NODE = { 400: 'Invalid node ID', 404: 'Node not found' } as const;

const Workstream = z.object({
  id: z.string(),
  name: z.string(),
  state: WorkstreamState,
  node: z.string(),
  title: z.string(),
  ...usageShape,
  ...activityShape,
  tool_calls: Count,
  ...WAITING_FIELD,
});

const nodeShape = {
  node_id: z.string(),
  server_url: z.string(),
  state: ClusterNode.shape.state,
  ws_total: Count,
  ws_running: Count,
  ws_thinking: Count,
  ws_attention: Count,
  ws_idle: Count,
  ws_error: Count,
  total_tokens: Count,
  /** ISO 8601. */
  started: z.string(),
  reachable: z.boolean(),
  health: z
    .object({
      status: ClusterNode.shape.health.unwrap().shape.status,
      backend: z.object({ status: z.enum(['up', 'down']), circuit_state: z.enum(['closed', 'open', 'half_open']) }),
    })
    .nullable(),
  version: z.string(),
  labels: z.array(z.string()),
};
const Node = z.object(nodeShape);

const Overview = z.object({
  nodes: Count,
  workstreams: Count,
  states: z.object({ running: Count, thinking: Count, attention: Count, idle: Count, error: Count }),
  aggregate: z.object({ total_tokens: Count, total_tool_calls: Count }),
  version_drift: z.boolean(),
  versions: z.array(z.string()),
});

const Snapshot = z.object({
  overview: Overview,
  nodes: z.array(z.object({ ...nodeShape, workstreams: z.array(Workstream) })),
  /** ISO 8601. */
  timestamp: z.string(),
});

const { create } = workstreamEndpoints;
const target = z.string().max(256).nullish();

/** The pending approval of a workstream, as its detail shows it. */
const pendingApproval = () => workstreamLineEndpoints.detail.reply().shape.pending_approval.unwrap();

const pageNumber = z.coerce.number().int();

/** The console paths (HTTP.md, "Console paths"). */
export const clusterEndpoints = {
  overview: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/overview',
    summary: 'How many machines and loaded workstreams there are.',
    scope: 'read',
    request: () => z.object({}),
    reply: () => Overview,
  }),
  nodes: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/nodes',
    summary: 'The machines that use the store.',
    scope: 'read',
    request: () =>
      z.object({
        sort: ClusterSort.optional(),
        limit: pageNumber.min(1).max(1_000).optional(),
        offset: pageNumber.min(0).optional(),
      }),
    reply: () => z.object({ nodes: z.array(Node), total: Count }),
    errors: { 400: 'limit: must be at most 1000' },
  }),
  workstreams: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/workstreams',
    summary: 'The loaded workstreams of all machines, by page.',
    scope: 'read',
    request: () =>
      z.object({
        state: WorkstreamState.optional(),
        node: z.string().max(256).optional(),
        search: z.string().max(256).optional(),
        page: pageNumber.min(1).optional(),
        per_page: pageNumber.min(1).max(200).optional(),
        sort: ClusterSort.optional(),
      }),
    reply: () =>
      z.object({
        workstreams: z.array(Workstream),
        total: Count,
        page: Count,
        per_page: Count,
        pages: Count,
      }),
    errors: { 400: 'per_page: must be at most 200' },
  }),
  node: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/node/{node_id}',
    summary: 'One machine and its loaded workstreams.',
    scope: 'read',
    request: () => z.object({ node_id: z.string() }),
    reply: () => z.object({ ...nodeShape, workstreams: z.array(Workstream) }),
    errors: NO_NODE,
  }),
  snapshot: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/snapshot',
    summary: 'The machines and their loaded workstreams at one moment.',
    scope: 'read',
    request: () => z.object({}),
    reply: () => Snapshot,
  }),
  events: endpoint({
    verb: 'get',
    path: '/v1/api/cluster/events',
    summary: 'A snapshot of all machines, then what changes.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.union([z.object({ type: z.literal('snapshot'), ...Snapshot.shape }), ...Object.values(CLUSTER_EVENTS)]),
    answers: 'event-stream',
  }),
  locate: endpoint({
    verb: 'get',
    path: '/v1/api/route',
    summary: 'The machine that serves a workstream, loaded or stored.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string().default('') }),
    reply: () => z.object({ node_url: z.string(), node_id: z.string() }),
    errors: { 404: 'Unknown workstream' },
  }),
  live: endpoint({
    verb: 'get',
    path: '/v1/api/route/workstreams/{ws_id}/live',
    summary: 'What a workstream does now; it is not loaded for this.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string() }),
    reply: () =>
      z.object({
        ws_id: z.string(),
        node_id: z.string(),
        /** Null while it is not loaded. */
        live: z.object({ ...Workstream.shape, pending_approval: pendingApproval().nullable() }).nullable(),
      }),
    errors: { 404: 'Unknown workstream' },
  }),
  create: endpoint({
    ...create,
    path: '/v1/api/cluster/workstreams/new',
    summary: 'Create a workstream on a machine.',
    /** `auto` (the default) and `pool` leave the choice to the daemon. */
    request: () => create.request().and(z.object({ node_id: target })),
    reply: () =>
      create.reply().extend({
        status: z.literal('ok'),
        /** The `ws_id`, which the event `ws_created` of the cluster has, too. */
        correlation_id: z.string(),
        target_node: z.string(),
      }),
    errors: { ...create.errors, 404: 'Node not found' },
  }),
  createRouted: endpoint({
    ...create,
    path: '/v1/api/route/workstreams/new',
    summary: 'Create a workstream, or reopen a stored one; the answer says on which machine.',
    request: () => create.request().and(z.object({ target_node: target })),
    reply: () =>
      create.reply().extend({
        node_url: z.string(),
        node_id: z.string(),
        routing_strategy: z.enum(['target_node', 'resume', 'rendezvous']),
      }),
    errors: { ...create.errors, 404: 'Node not found' },
  }),
  move: endpoint({
    verb: 'post',
    path: '/v1/api/route/workstreams/move',
    summary: 'Move an idle workstream to another machine that has its folder, too.',
    scope: 'write',
    request: () => z.object({ ws_id: z.string().default(''), target_node: z.string().default('') }),
    reply: () =>
      z.object({
        status: z.literal('ok'),
        node_url: z.string(),
        node_id: z.string(),
        /** False: the machine had it already. */
        moved: z.boolean(),
      }),
    errors: { 400: 'Invalid node ID', 404: 'Unknown workstream', 409: 'The workstream is in use' },
  }),
  remove: endpoint({
    verb: 'post',
    path: '/v1/api/route/workstreams/delete',
    summary: 'Delete a workstream, loaded or stored, with its messages.',
    scope: 'approve',
    request: () => z.object({ ws_id: z.string().default('') }),
    reply: () => z.object({ status: z.literal('ok'), deleted: z.string() }),
    errors: { 400: 'Cannot delete the main session (main).', 404: 'Unknown workstream' },
  }),
};
