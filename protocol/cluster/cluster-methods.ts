import { z } from 'zod';
import { contract } from '../contract.ts';
import { activityShape } from '../events/global.ts';
import { NonEmpty, optionalText } from '../frames.ts';
import { Approval } from '../methods/approval.ts';
import { HealthSummary } from '../methods/health.ts';
import { WorkstreamState } from '../stream-events.ts';
import { Waiting } from './machine-labels.ts';

const Count = z.int().min(0);
/** The longest id of a machine is a host name and five characters. */
const NODE_ID_LENGTH = 256;
const Counts = HealthSummary.shape.workstreams;

/** A loaded workstream of some machine, or one that waits for it. */
export const ClusterWorkstream = z
  .strictObject({
    wsId: NonEmpty,
    name: NonEmpty,
    state: WorkstreamState,
    nodeId: NonEmpty,
    title: z.string(),
    /** Of its last answer. */
    tokens: Count,
    /** The used part of the context window, from 0. */
    contextRatio: z.number().min(0),
    activity: activityShape.activity,
    activityState: activityShape.activity_state,
    /** Since it was loaded. */
    toolCalls: Count,
    /** Absent: its machine runs it. */
    waiting: Waiting.optional(),
  })
  .meta({ id: 'ClusterWorkstream' });
export type ClusterWorkstream = z.infer<typeof ClusterWorkstream>;

/** `standby`: it forwards, and waits until the active one ends. `worker`: it runs workstreams for the active one. `lost`: it has not reported for longer than a lease lasts. */
const MachineState = z.enum(['active', 'standby', 'worker', 'lost']);

const nodeShape = {
  nodeId: NonEmpty,
  serverUrl: z.string(),
  state: MachineState,
  /** By state. */
  workstreams: Counts,
  /** Of the loaded workstreams. */
  totalTokens: Count,
  startedMs: Count,
  reachable: z.boolean(),
  /** Null for a machine that runs no workstreams, or cannot be asked: only itself knows, at `/node/{node_id}/health`. */
  health: z
    .strictObject({
      status: HealthSummary.shape.status,
      backend: HealthSummary.shape.backend,
    })
    .nullable(),
  version: z.string(),
  /** What it has, such as `gpu`. */
  labels: z.array(z.string()),
};

/** A machine that uses the store. The active one serves clients, and has all workstreams but those of workers. */
export const ClusterNode = z.strictObject(nodeShape).meta({ id: 'ClusterNode' });
export type ClusterNode = z.infer<typeof ClusterNode>;

const ClusterOverview = z
  .strictObject({
    nodes: Count,
    workstreams: Count,
    states: z.strictObject({
      running: Count,
      thinking: Count,
      attention: Count,
      idle: Count,
      error: Count,
    }),
    totalTokens: Count,
    totalToolCalls: Count,
    /** Not all reachable nodes have the same version. */
    versionDrift: z.boolean(),
    versions: z.array(z.string()),
  })
  .meta({ id: 'ClusterOverview' });
export type ClusterOverview = z.infer<typeof ClusterOverview>;

/** All machines and their loaded workstreams. */
export const ClusterSnapshot = z
  .strictObject({
    overview: ClusterOverview,
    nodes: z.array(ClusterNode),
    workstreams: z.array(ClusterWorkstream),
    atMs: Count,
  })
  .meta({ id: 'ClusterSnapshot' });
export type ClusterSnapshot = z.infer<typeof ClusterSnapshot>;

/** A daemon that uses the store, or waits for its turn. */
export const ClusterMachine = z
  .strictObject({
    nodeId: NonEmpty,
    serverUrl: z.string(),
    version: z.string(),
    state: MachineState,
    /** It is the one that answers. */
    isHere: z.boolean(),
    startedMs: Count,
    /** How long ago it reported last. */
    seenAgoMs: Count,
    /** What it has, such as `gpu`. Absent from earlier versions. */
    labels: z.array(z.string()).optional(),
    /** Why it does not work together with the others; absent: it does, or has not tried yet. */
    trouble: z.string().optional(),
    /** Of the active one, if others can take over: it rises with each change, and is renewed every two seconds. */
    lease: z.strictObject({ epoch: Count, sinceMs: Count, renewedAgoMs: Count }).optional(),
  })
  .meta({ id: 'ClusterMachine' });
export type ClusterMachine = z.infer<typeof ClusterMachine>;

/** By need of attention (waiting for approval first), by tokens (most first), or by name. */
export const ClusterSort = z.enum(['activity', 'tokens', 'name']);
export type ClusterSort = z.infer<typeof ClusterSort>;

/** The machines that use the store, and the workstreams, which the active one serves. */
export const clusterContracts = {
  'cluster.overview': contract({
    summary: 'How many machines and loaded workstreams there are, and in which states.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ClusterOverviewParams' }),
    result: () => ClusterOverview,
  }),
  'cluster.status': contract({
    summary:
      'The daemons that use the store: the active one, its workers, those that wait to take over, and those that were lost.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ClusterStatusParams' }),
    result: () => z.strictObject({ machines: z.array(ClusterMachine) }).meta({ id: 'ClusterStatusResult' }),
  }),
  'cluster.nodes': contract({
    summary:
      'The machines that use the store: the active one, its workers, those that wait to take over, and those that were lost.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          sort: ClusterSort.optional(),
          limit: z.int().min(1).max(1_000).optional(),
          offset: Count.optional(),
        })
        .meta({ id: 'ClusterNodesParams' }),
    result: () => z.strictObject({ nodes: z.array(ClusterNode), total: Count }).meta({ id: 'ClusterNodesResult' }),
  }),
  'cluster.workstreams': contract({
    summary: 'The loaded workstreams of all machines, by page.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          state: WorkstreamState.optional(),
          nodeId: optionalText(NODE_ID_LENGTH),
          /** Part of the id, name or title, in any case. */
          search: optionalText(256),
          page: z.int().min(1).optional(),
          perPage: z.int().min(1).max(200).optional(),
          sort: ClusterSort.optional(),
        })
        .meta({ id: 'ClusterWorkstreamsParams' }),
    result: () =>
      z
        .strictObject({
          workstreams: z.array(ClusterWorkstream),
          total: Count,
          page: Count,
          perPage: Count,
          pages: Count,
        })
        .meta({ id: 'ClusterWorkstreamsResult' }),
  }),
  'cluster.node': contract({
    summary: 'One machine and its loaded workstreams.',
    scope: 'read',
    params: () => z.strictObject({ nodeId: z.string().max(NODE_ID_LENGTH) }).meta({ id: 'ClusterNodeParams' }),
    result: () =>
      z.strictObject({ node: ClusterNode, workstreams: z.array(ClusterWorkstream) }).meta({ id: 'ClusterNodeResult' }),
  }),
  'cluster.snapshot': contract({
    summary: 'The machines and their loaded workstreams at one moment.',
    scope: 'read',
    weight: 3,
    params: () => z.strictObject({}).meta({ id: 'ClusterSnapshotParams' }),
    result: () => ClusterSnapshot,
  }),
  'cluster.locate': contract({
    summary: 'The machine that serves a workstream, loaded or stored.',
    scope: 'read',
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'ClusterLocateParams' }),
    result: () => z.strictObject({ nodeId: NonEmpty, serverUrl: z.string() }).meta({ id: 'ClusterLocateResult' }),
  }),
  'cluster.move': contract({
    summary:
      'Move an idle workstream to another machine that has its folder, too. For its owner, and holders of `workstreams.all`.',
    scope: 'write',
    audit: { action: 'workstream.move', id: 'wsId' },
    params: () =>
      z.strictObject({ wsId: z.string(), nodeId: z.string().max(NODE_ID_LENGTH) }).meta({ id: 'ClusterMoveParams' }),
    result: () =>
      z
        .strictObject({
          nodeId: NonEmpty,
          serverUrl: z.string(),
          /** False: the machine had it already. */
          moved: z.boolean(),
        })
        .meta({ id: 'ClusterMoveResult' }),
  }),
  'cluster.live': contract({
    summary: 'What a workstream does now, and its machine. A stored one is not loaded for this.',
    scope: 'read',
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'ClusterLiveParams' }),
    result: () =>
      z
        .strictObject({
          nodeId: NonEmpty,
          /** Absent while it is not loaded. */
          workstream: ClusterWorkstream.optional(),
          pendingApproval: Approval.optional(),
        })
        .meta({ id: 'ClusterLiveResult' }),
  }),
};
