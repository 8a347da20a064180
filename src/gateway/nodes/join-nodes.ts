import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { ClientLink } from '../call.ts';
import type { JoiningNode } from '../connections/connection.ts';
import type { Nodes } from './nodes.ts';

interface JoinDeps {
  nodes: Pick<Nodes, 'connected' | 'requests'>;
  clock: Pick<Clock, 'sleep'>;
}

/** How long a stranger may stay: its request, and a moment to hear what became of it. */
const STRANGER_MS = LIMITS.pairingMs + 10_000;

/** Takes in a node whose handshake is over; the answer says that its connection has ended. */
export function joinNodes({ nodes, clock }: JoinDeps): (node: JoiningNode) => () => void {
  return ({ principal: { source }, params, address, link }) => {
    const endings = [() => nodes.requests.gone(link)];
    if (source.kind === 'node') {
      const { client, caps } = params;
      endings.push(nodes.connected.add({ nodeId: source.nodeId, link, client, caps, address }));
    } else {
      endings.push(closeLater(link, clock));
    }
    return () => {
      for (const end of endings) end();
    };
  };
}

/** So that strangers cannot hold all places for good. */
function closeLater(link: ClientLink, clock: Pick<Clock, 'sleep'>): () => void {
  const over = new AbortController();
  clock.sleep(STRANGER_MS, over.signal).then(
    () => link.close('pairing_expired'),
    () => undefined, // it has gone before
  );
  return () => over.abort();
}
