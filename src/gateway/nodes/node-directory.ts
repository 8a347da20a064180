import { GatewayError } from '../../../protocol/errors.ts';
import { type NodeDirectory, Unanswered } from '../../agent/tools/node.ts';
import type { Nodes } from './nodes.ts';

/** Adapts the nodes to the agent's tool. */
export const toNodeDirectory = (nodes: Pick<Nodes, 'list' | 'paired' | 'invocations' | 'returnOf'>): NodeDirectory => ({
  list: async () =>
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
    const { payload } = await attempt()
      .catch((error: unknown) => (isUnsent(error) ? attempt() : Promise.reject(error)))
      .catch((error: unknown) => {
        throw asUnanswered(error);
      });
    return payload;
  },
});

const codeIn = (error: unknown): unknown => (error instanceof GatewayError ? Object(error.details).code : undefined);

const isUnsent = (error: unknown): boolean => codeIn(error) === 'NOT_CONNECTED';

/** Why a command that was sent has no result, for the model. It has no key to repeat, as other callers have. */
const WITHOUT_RESULT = new Map<unknown, string>([
  ['NODE_LOST', 'The node disconnected during the command.'],
  ['PAIRING_REVOKED', 'The pairing of the node was revoked during the command.'],
  ['TIMEOUT', 'The node did not answer in time.'],
]);

/** What a node itself reports has no such code. */
function asUnanswered(error: unknown): unknown {
  const why = WITHOUT_RESULT.get(codeIn(error));
  return why === undefined ? error : new Unanswered(why, { cause: error });
}

const pairingOf = ({ paired }: Pick<Nodes, 'paired'>, nodeId: string): string =>
  String(paired.get(nodeId).approvedAtMs);
