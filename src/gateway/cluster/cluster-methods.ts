import type { clusterContracts } from '../../../protocol/cluster/cluster-methods.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import type { Cluster } from './cluster.ts';
import { invalidNode, isNodeId, unknownNode } from './node-ids.ts';
import { pageOfNodes, pageOfWorkstreams, toOverview, toSnapshot } from './views.ts';

interface ClusterMethodDeps {
  cluster: Cluster;
  clock: Pick<Clock, 'now'>;
}

export const clusterMethods = ({ cluster, clock }: ClusterMethodDeps): Handlers<keyof typeof clusterContracts> => ({
  'cluster.overview': async () => toOverview(await cluster.read()),
  'cluster.nodes': async (query) => pageOfNodes(await cluster.read(), query),
  'cluster.workstreams': async (query) => pageOfWorkstreams(await cluster.read(), query),
  async 'cluster.node'({ nodeId }) {
    if (!isNodeId(nodeId)) throw invalidNode();
    const member = (await cluster.read()).find(({ node }) => node.nodeId === nodeId);
    if (!member) throw unknownNode();
    return member;
  },
  'cluster.snapshot': async () => toSnapshot(await cluster.read(), clock.now()),
  async 'cluster.locate'({ wsId }) {
    const owner = await cluster.ownerOf(wsId);
    if (!owner) throw unknownWorkstream();
    return { nodeId: owner.nodeId, serverUrl: owner.serverUrl };
  },
});
