import type { HelloOk, PresenceEntry } from '../../../protocol/connect.ts';
import type { Contract, Scope } from '../../../protocol/contract.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../../../protocol/events/gateway.ts';
import type { StateVersion } from '../../../protocol/frames.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Principal } from '../auth/principal.ts';
import { holds, isOfNode, mayCall } from '../rights.ts';

/** What `hello-ok` reports about the daemon, at that moment. */
export interface GatewayView {
  server: { version: string; host?: string; commit?: string };
  presence(): PresenceEntry[];
  /** The last health summary; `{}` before the first. */
  health(): unknown;
  stateVersion(): StateVersion;
  uptimeMs(): number;
  policy: { maxBufferedBytes: number; tickIntervalMs: number };
}

/**
 * The answer to a successful handshake as JSON (HelloOk): the server, what this principal may use, and the initial state.
 * Thousands of clients may reconnect at once, so shared parts are encoded once.
 */
export function createHello(view: GatewayView): (connId: string, principal: Principal) => string {
  const encodeFeatures = createFeatures();
  const encodePresence = createPresenceEncoding();
  return (connId, { scopes, source }) => {
    // Nodes get no information about other clients and the daemon's health.
    const presence = isOfNode(scopes) ? '[]' : encodePresence(view.presence());
    const health = isOfNode(scopes) ? {} : view.health();
    const { stateVersion, uptimeMs } = { stateVersion: view.stateVersion(), uptimeMs: Math.floor(view.uptimeMs()) };
    const rest = JSON.stringify({ health, stateVersion, uptimeMs }).slice(1);
    const server = JSON.stringify({ ...view.server, connId });
    const policy = JSON.stringify({ maxPayload: maxPayloadOf(source), ...view.policy });
    const { protocolVersion } = LIMITS;
    return `{"type":"hello-ok","protocol":${protocolVersion},"server":${server},"features":${encodeFeatures(scopes)},"snapshot":{"presence":${presence},${rest},"policy":${policy}}`;
  };
}

/** Caches the JSON of entries, because most of them are unchanged since the last call. */
function createPresenceEncoding(): (entries: readonly PresenceEntry[]) => string {
  const known = new WeakMap<PresenceEntry, string>();
  const encode = (entry: PresenceEntry) => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const json = JSON.stringify(entry);
    known.set(entry, json);
    return json;
  };
  return (entries) => `[${entries.map(encode).join()}]`;
}

/** A client that is still unauthenticated after the handshake keeps the small limit of before. */
export const maxPayloadOf = ({ kind }: Principal['source']): number =>
  kind === 'unpaired' ? LIMITS.maxPayloadBeforeConnectBytes : LIMITS.maxPayloadBytes;

/** Few distinct sets of scopes exist, so the features of each set are computed and encoded once. */
function createFeatures(): (scopes: ReadonlySet<Scope>) => string {
  const known = new Map<string, string>();
  return (scopes) => {
    const name = [...scopes].sort().join();
    const features = known.get(name) ?? JSON.stringify(featuresOf(scopes));
    known.set(name, features);
    return features;
  };
}

function featuresOf(scopes: ReadonlySet<Scope>): HelloOk['features'] {
  return {
    methods: Object.entries<Contract>(CONTRACTS)
      .filter(([method, row]) => method !== 'connect' && mayCall(scopes, row.scope))
      .map(([method]) => method),
    events: Object.entries<GatewayEventRow>(GATEWAY_EVENTS)
      .filter(([, row]) => holds(scopes, row.scope) || (row.direct !== undefined && scopes.has(row.direct)))
      .map(([event]) => event),
  };
}
