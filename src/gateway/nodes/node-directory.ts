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
      pairing: String(nodes.paired.get(nodeId).approvedAtMs),
    })),
  async invoke({ toolCall, ...call }, signal) {
    const { payload } = await nodes.invocations.start({ ...call, key: toolCall, toolCall }, signal);
    return payload;
  },
});
