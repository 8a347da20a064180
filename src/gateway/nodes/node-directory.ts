import { GatewayError } from '../../../protocol/errors.ts';
import type { NodeDirectory } from '../../agent/tools/node.ts';
import type { Nodes } from './nodes.ts';

/** Adapts the nodes to the agent's tool. */
export const toNodeDirectory = (nodes: Pick<Nodes, 'list' | 'paired' | 'invocations'>): NodeDirectory => ({
  list: () =>
    nodes.list().map(({ nodeId, displayName = nodeId, platform, commands, connected }) => ({
      nodeId,
      name: displayName,
      platform,
      commands,
      isConnected: connected,
      pairing: pairingOf(nodes, nodeId),
    })),
  async invoke({ toolCall, pairing, ...call }, signal) {
    if (pairingOf(nodes, call.nodeId) !== pairing)
      throw new GatewayError('CONFLICT', 'the node was paired again while the call waited; nothing was sent');
    const { payload } = await nodes.invocations.start({ ...call, key: toolCall, toolCall }, signal);
    return payload;
  },
});

const pairingOf = ({ paired }: Pick<Nodes, 'paired'>, nodeId: string): string =>
  String(paired.get(nodeId).approvedAtMs);
