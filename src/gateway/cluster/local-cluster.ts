import type { ClusterWorkstream } from '../../../protocol/cluster/cluster-methods.ts';
import type { Clock } from '../../clock.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Health } from '../health.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { GlobalEvents } from '../streams/global-events.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { Cluster, ClusterMember } from './cluster.ts';

interface LocalClusterDeps {
  server: Pick<GatewayDeps['server'], 'nodeId' | 'url'>;
  health: Pick<Health, 'summary'>;
  workstreams: Pick<Workstreams, 'list' | 'find' | 'isStored'>;
  global: Pick<GlobalEvents, 'livenessOf' | 'toolCallsOf'>;
  /** Absent: no other daemon can use the store. */
  shared: Pick<SharedStore, 'peers'> | undefined;
  clock: Pick<Clock, 'now'>;
}

const NONE: ReadonlyMap<string, string | undefined> = new Map();

/** A cluster of this machine alone, with those that forward to it. */
export function createLocalCluster({ server, health, workstreams, global, shared, clock }: LocalClusterDeps): Cluster {
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
    standbys: () => shared?.peers() ?? NONE,
    async read(viewer): Promise<ClusterMember[]> {
      const loaded = workstreams.list(viewer).map(({ data }) => toWorkstream(data));
      const { status, backend, version, workstreams: states } = health.summary();
      const totalTokens = loaded.reduce((sum, { tokens }) => sum + tokens, 0);
      const about = { reachable: true, health: { status, backend }, version };
      const node = { nodeId, serverUrl: url(), workstreams: states, totalTokens, startedMs, ...about };
      return [{ node, workstreams: loaded }];
    },
    async liveOf(wsId, viewer) {
      const loaded = workstreams.find(wsId, viewer);
      const asked = loaded?.current?.pendingApproval();
      return loaded && { workstream: toWorkstream(loaded.data), ...(asked && { pendingApproval: asked }) };
    },
    ownerOf: async (wsId, viewer) => ((await workstreams.isStored(wsId, viewer)) ? here : undefined),
  };
}
