import { LIMITS } from '../../../protocol/limits.ts';
import { PROCESS_CAP } from '../../../protocol/methods/node.ts';
import type { Clock } from '../../clock.ts';
import type { ClientLink } from '../call.ts';
import type { JoiningNode } from '../connections/connection.ts';
import type { ConnectedNode } from './connected-nodes.ts';
import type { Nodes } from './nodes.ts';

interface JoinDeps {
  nodes: Pick<Nodes, 'connected' | 'requests'>;
  clock: Pick<Clock, 'sleep'>;
}

/** How long an unpaired machine may stay connected: the time of its request, plus a moment to receive the decision. */
const STRANGER_MS = LIMITS.pairingMs + 10_000;

/** Registers a node after its handshake. Returns a function for the end of its connection. */
export function joinNodes({ nodes, clock }: JoinDeps): (node: JoiningNode) => () => void {
  return ({ principal: { source }, params, address, link }) => {
    const endings = [() => nodes.requests.gone(link)];
    if (source.kind === 'node') {
      const { client } = params;
      endings.push(nodes.connected.add({ nodeId: source.nodeId, link, client, address, ...splitCaps(params.caps) }));
    } else {
      endings.push(closeLater(link, clock));
    }
    return () => {
      for (const end of endings) end();
    };
  };
}

function splitCaps(all: readonly string[]): Pick<ConnectedNode, 'caps' | 'process'> {
  const named = all.find((cap) => cap.startsWith(PROCESS_CAP));
  return { caps: all.filter((cap) => cap !== named), process: named?.slice(PROCESS_CAP.length) };
}

/** Disconnects unpaired machines after a while, so that they cannot hold all places forever. */
function closeLater(link: ClientLink, clock: Pick<Clock, 'sleep'>): () => void {
  const over = new AbortController();
  clock.sleep(STRANGER_MS, over.signal).then(
    () => link.close('pairing_expired'),
    () => undefined, // it disconnected before
  );
  return () => over.abort();
}
