import { GatewayError } from '../../../protocol/errors.ts';
import type { NodeDirectory } from '../../agent/tools/node.ts';
import type { Nodes } from './nodes.ts';

/** Adapts the nodes to the agent's tool. */
export const toNodeDirectory = (nodes: Pick<Nodes, 'list' | 'paired' | 'invocations' | 'returnOf'>): NodeDirectory => ({
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
    const attempt = async () => {
      await nodes.returnOf(call.nodeId, signal); // a call that was approved before a restart is not lost
      if (pairingOf(nodes, call.nodeId) !== pairing)
        throw new GatewayError('CONFLICT', 'the node was paired again while the call waited; nothing was sent');
      return nodes.invocations.start({ ...call, key: toolCall, toolCall }, signal);
    };
    // A node that was lost just before the command was sent has its time, too.
    const { payload } = await attempt().catch((error: unknown) =>
      isUnsent(error) ? attempt() : Promise.reject(error),
    );
    return payload;
  },
});

const isUnsent = (error: unknown): boolean =>
  error instanceof GatewayError && Object(error.details).code === 'NOT_CONNECTED';

const pairingOf = ({ paired }: Pick<Nodes, 'paired'>, nodeId: string): string =>
  String(paired.get(nodeId).approvedAtMs);
