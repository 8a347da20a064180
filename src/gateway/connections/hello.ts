import type { Contract, Scope } from '../../../protocol/contract.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../../../protocol/events/gateway.ts';
import type { StateVersion } from '../../../protocol/frames.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { HelloOk, PresenceEntry } from '../../../protocol/methods/connect.ts';
import type { Principal } from '../auth/principal.ts';
import { holds, isOfNode, mayCall } from '../rights.ts';

/** What `hello-ok` tells of the daemon, at the moment it is asked. */
export interface GatewayView {
  server: { version: string; host?: string; commit?: string };
  presence(): PresenceEntry[];
  /** The last health summary; `{}` before the first. */
  health(): unknown;
  stateVersion(): StateVersion;
  uptimeMs(): number;
  policy: { maxBufferedBytes: number; tickIntervalMs: number };
}

/** The answer to a good handshake: who we are, what this principal may use, the state it starts from. */
export function createHello(view: GatewayView): (connId: string, principal: Principal) => HelloOk {
  const featuresOf = createFeatures();
  return (connId, { scopes, source }) => ({
    type: 'hello-ok',
    protocol: LIMITS.protocolVersion,
    server: { ...view.server, connId },
    features: featuresOf(scopes),
    snapshot: {
      // Who else is here, and how the daemon is, is none of a node's business.
      presence: isOfNode(scopes) ? [] : view.presence(),
      health: isOfNode(scopes) ? {} : view.health(),
      stateVersion: view.stateVersion(),
      uptimeMs: Math.floor(view.uptimeMs()),
    },
    policy: { maxPayload: maxPayloadOf(source), ...view.policy },
  });
}

/** Who is a stranger still after the handshake may not send more than before it. */
export const maxPayloadOf = ({ kind }: Principal['source']): number =>
  kind === 'unpaired' ? LIMITS.maxPayloadBeforeConnectBytes : LIMITS.maxPayloadBytes;

/** Few principals differ in their scopes, so what each set may use is worked out once. */
function createFeatures(): (scopes: ReadonlySet<Scope>) => HelloOk['features'] {
  const known = new Map<string, HelloOk['features']>();
  return (scopes) => {
    const name = [...scopes].sort().join();
    const features = known.get(name) ?? {
      methods: Object.entries<Contract>(CONTRACTS)
        .filter(([method, row]) => method !== 'connect' && mayCall(scopes, row.scope))
        .map(([method]) => method),
      events: Object.entries<GatewayEventRow>(GATEWAY_EVENTS)
        .filter(([, row]) => holds(scopes, row.scope) || (row.direct !== undefined && scopes.has(row.direct)))
        .map(([event]) => event),
    };
    known.set(name, features);
    return features;
  };
}
