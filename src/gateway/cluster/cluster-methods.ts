import type { ClusterMachine, ClusterNode, clusterContracts } from '../../../protocol/cluster/cluster-methods.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import type { Cluster } from './cluster.ts';
import { invalidNode, isNodeId, unknownNode } from './node-ids.ts';
import { pageOfNodes, pageOfWorkstreams, toOverview, toSnapshot } from './views.ts';

const alone = ({ nodeId, serverUrl, version, state, startedMs, labels }: ClusterNode): ClusterMachine => ({
  nodeId,
  serverUrl,
  version,
  state,
  isHere: true,
  startedMs,
  seenAgoMs: 0,
  labels,
});

interface ClusterMethodDeps {
  cluster: Cluster;
  /** Absent: no other daemon can use the store. */
  shared: Pick<SharedStore, 'machines'> | undefined;
  clock: Pick<Clock, 'now'>;
}

const noMoves = () =>
  new GatewayError('CONFLICT', 'There is no other machine: workstreams move in a cluster with workers');

export const clusterMethods = ({
  cluster,
  shared,
  clock,
}: ClusterMethodDeps): Handlers<keyof typeof clusterContracts> => ({
  'cluster.overview': async (_, call) => toOverview(await cluster.read(viewerOf(call))),
  async 'cluster.status'(_, call) {
    if (shared) return { machines: await shared.machines() };
    const members = await cluster.read(viewerOf(call));
    return { machines: members.map(({ node }) => alone(node)) };
  },
  'cluster.nodes': async (query, call) => pageOfNodes(await cluster.read(viewerOf(call)), query),
  'cluster.workstreams': async (query, call) => pageOfWorkstreams(await cluster.read(viewerOf(call)), query),
  async 'cluster.node'({ nodeId }, call) {
    if (!isNodeId(nodeId)) throw invalidNode();
    const member = (await cluster.read(viewerOf(call))).find(({ node }) => node.nodeId === nodeId);
    if (!member) throw unknownNode();
    return member;
  },
  'cluster.snapshot': async (_, call) => toSnapshot(await cluster.read(viewerOf(call)), clock.now()),
  async 'cluster.locate'({ wsId }, call) {
    const owner = await cluster.ownerOf(wsId, viewerOf(call));
    if (!owner) throw unknownWorkstream();
    return { nodeId: owner.nodeId, serverUrl: owner.serverUrl };
  },
  async 'cluster.move'({ wsId, nodeId }, call) {
    if (!isNodeId(nodeId)) throw invalidNode();
    const { here, moves } = cluster;
    const isHere = nodeId === here.nodeId;
    if (moves) {
      const moved = await moves.move(wsId, nodeId, viewerOf(call));
      return { nodeId, serverUrl: isHere ? here.serverUrl : (cluster.workers().get(nodeId) ?? ''), moved };
    }
    if (!(await cluster.ownerOf(wsId, viewerOf(call)))) throw unknownWorkstream();
    if (!isHere) throw noMoves();
    return { nodeId, serverUrl: here.serverUrl, moved: false };
  },
  async 'cluster.live'({ wsId }, call) {
    const owner = await cluster.ownerOf(wsId, viewerOf(call));
    if (!owner) throw unknownWorkstream();
    return { nodeId: owner.nodeId, ...(await cluster.liveOf(wsId, viewerOf(call))) };
  },
});
