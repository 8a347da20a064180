import type { ClusterNode, ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';
import type { NodeEvent } from '../../../protocol/events/cluster.ts';
import type { Clock } from '../../clock.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Health } from '../health.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import type { Peers } from '../store/postgres/lease/peers.ts';
import type { GlobalEvents } from '../streams/global-events.ts';
import type { Lead } from '../workers/lead.ts';
import type { WaitingRow } from '../workers/waiting-workstreams.ts';
import { stateAfter, type WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { Cluster, ClusterMember } from './cluster.ts';

interface LocalClusterDeps {
  server: Pick<GatewayDeps['server'], 'nodeId' | 'labels' | 'url'>;
  /** Absent: no other daemon can use the store. */
  shared?: Pick<SharedStore, 'peers' | 'machines'> | undefined;
  clock: Pick<Clock, 'now'>;
}

interface ShownParts {
  health: Pick<Health, 'summary' | 'here'>;
  workstreams: Pick<Workstreams, 'list' | 'find' | 'isStored'>;
  global: Pick<GlobalEvents, 'livenessOf' | 'toolCallsOf'>;
  /** The workers; undefined: there can be none. */
  lead: Pick<Lead, 'members' | 'urls' | 'waiting' | 'moves'> | undefined;
}

const NONE: Peers = new Map();
const NO_WORKSTREAMS: ClusterNode['workstreams'] = {
  total: 0,
  running: 0,
  thinking: 0,
  attention: 0,
  idle: 0,
  error: 0,
};

type OtherMachine = Pick<KnownMachine, 'nodeId' | 'serverUrl' | 'version' | 'labels' | 'state' | 'startedMs'>;

/** A machine that serves nothing. */
const toOther = ({ state, ...machine }: OtherMachine, waits: readonly WaitingRow[]): ClusterMember => {
  const { nodeId, serverUrl, version, labels, startedMs } = machine;
  const about = { nodeId, serverUrl, version, labels, state, startedMs, reachable: state !== 'lost', health: null };
  const workstreams = waits.filter(({ waiting }) => waiting.nodeId === nodeId).map(toWaiting);
  return { node: { ...about, workstreams: NO_WORKSTREAMS, totalTokens: 0 }, workstreams };
};

const toWaiting = ({ row, waiting }: WaitingRow): ClusterWorkstream => ({
  wsId: row.ws_id,
  name: row.alias ?? row.generated_name,
  state: stateAfter(row.last_run_status),
  nodeId: waiting.nodeId,
  title: row.title ?? '',
  tokens: 0,
  contextRatio: 0,
  activity: '',
  activityState: '',
  toolCalls: 0,
  waiting,
});

/** Machines that have stopped in order are no longer known, but their workstreams wait. */
const unknownOf = (waits: readonly WaitingRow[], known: ReadonlySet<string>): OtherMachine[] =>
  [...new Set(waits.map(({ waiting }) => waiting.nodeId))]
    .filter((nodeId) => !known.has(nodeId))
    .map((nodeId) => ({ nodeId, serverUrl: '', version: '', labels: [], state: 'lost', startedMs: 0 }));

const toNodeEvents = (before: Peers, now: Peers): NodeEvent[] => [
  ...[...now.keys()].filter((id) => !before.has(id)).map((id) => ({ type: 'node_joined' as const, node_id: id })),
  ...[...before.keys()].filter((id) => !now.has(id)).map((id) => ({ type: 'node_lost' as const, node_id: id })),
];

/** This machine with its workstreams, its workers with theirs, and the machines that forward to it. */
export function createLocalCluster(
  { server, shared, clock }: LocalClusterDeps,
  { health, workstreams, global, lead }: ShownParts,
): Cluster {
  const { nodeId, url } = server;
  const startedMs = clock.now();
  const here = {
    nodeId,
    get serverUrl() {
      return url();
    },
  };

  const toWorkstream = (data: WorkstreamData): ClusterWorkstream => {
    const { tokens, context_ratio: contextRatio, activity, activity_state: activityState } = global.livenessOf(data);
    return {
      wsId: data.wsId,
      name: data.name,
      state: data.state,
      nodeId,
      title: data.title ?? '',
      tokens,
      contextRatio,
      activity,
      activityState,
      toolCalls: global.toolCallsOf(data.wsId),
    };
  };

  return {
    here,
    standbys: () => new Map([...(shared?.peers.current() ?? NONE), ...(lead?.urls() ?? NONE)]),
    workers: () => lead?.urls() ?? new Map(),
    moves: lead?.moves,
    onStandbys: (listener) =>
      shared?.peers.onChange((before, now) => {
        for (const event of toNodeEvents(before, now)) listener(event);
      }) ?? (() => undefined),
    async read(viewer): Promise<ClusterMember[]> {
      const loaded = workstreams.list(viewer).map(({ data }) => toWorkstream(data));
      const { status, backend, version } = health.summary();
      const { workstreams: states } = health.here();
      const totalTokens = loaded.reduce((sum, { tokens }) => sum + tokens, 0);
      const about = { state: 'active' as const, reachable: true, health: { status, backend }, version };
      const labels = [...server.labels];
      const node = { nodeId, serverUrl: url(), labels, workstreams: states, totalTokens, startedMs, ...about };
      const [machines, members, waits] = await Promise.all([
        shared?.machines() ?? [],
        lead?.members(viewer) ?? [],
        lead?.waiting.list(viewer) ?? [],
      ]);
      const has = new Set(members.map((member) => member.node.nodeId));
      const others = machines.filter(({ isHere, nodeId: id }) => !isHere && !has.has(id));
      const unknown = unknownOf(waits, new Set([...has, ...machines.map(({ nodeId: id }) => id)]));
      return [
        { node, workstreams: loaded },
        ...members,
        ...[...others, ...unknown].map((machine) => toOther(machine, waits)),
      ];
    },
    async liveOf(wsId, viewer) {
      const loaded = workstreams.find(wsId, viewer);
      const asked = loaded?.current?.pendingApproval();
      return loaded && { workstream: toWorkstream(loaded.data), ...(asked && { pendingApproval: asked }) };
    },
    ownerOf: async (wsId, viewer) => ((await workstreams.isStored(wsId, viewer)) ? here : undefined),
  };
}
