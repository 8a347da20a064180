import type { ConnectParams } from '../../../protocol/connect.ts';
import type { ClientLink } from '../call.ts';

/** A connected paired node, as described in its last handshake. */
export interface ConnectedNode {
  nodeId: string;
  link: ClientLink;
  client: ConnectParams['client'];
  caps: readonly string[];
  /** Which process of the machine it is; undefined: it does not say so. */
  process: string | undefined;
  address: string;
}

/** The connected nodes. If a node has two connections, the newest counts. */
export interface ConnectedNodes {
  /** Returns a function that ends this connection; by then another one may have replaced it. */
  add(node: ConnectedNode): () => void;
  find(nodeId: string): ConnectedNode | undefined;
  /** Calls back whenever the node connects or disconnects. Returns a function that stops watching. */
  watch(nodeId: string, onChange: () => void): () => void;
}

/** `onPresence` is called when a node connects or disconnects; a replaced connection counts as connecting. */
export function createConnectedNodes(onPresence: (nodeId: string, isConnected: boolean) => void): ConnectedNodes {
  const nodes = new Map<string, ConnectedNode>();
  const watchers = new Map<string, Set<() => void>>();

  function tell(nodeId: string): void {
    for (const onChange of [...(watchers.get(nodeId) ?? [])]) onChange();
  }

  return {
    add(node) {
      const { nodeId } = node;
      const earlier = nodes.get(nodeId);
      nodes.set(nodeId, node);
      earlier?.link.close('node_replaced');
      onPresence(nodeId, true);
      tell(nodeId);
      return () => {
        if (nodes.get(nodeId) !== node) return;
        nodes.delete(nodeId);
        onPresence(nodeId, false);
        tell(nodeId);
      };
    },
    find: (nodeId) => nodes.get(nodeId),
    watch(nodeId, onChange) {
      const mine = watchers.get(nodeId) ?? new Set();
      watchers.set(nodeId, mine.add(onChange));
      return () => {
        mine.delete(onChange);
        if (mine.size === 0 && watchers.get(nodeId) === mine) watchers.delete(nodeId);
      };
    },
  };
}
