import type { StateVersion } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Defer } from '../../timing/end-of-turn.ts';
import type { Principal } from '../auth/principal.ts';
import { holds } from '../rights.ts';
import { createFeatures } from './features.ts';

/** What `hello-ok` reports about the daemon, at that moment. */
export interface GatewayView {
  server: { version: string; host?: string; commit?: string };
  /** The list of clients (PresenceEntry[]) as JSON. */
  presence(): Buffer;
  /** A health summary as JSON. */
  health(): string;
  stateVersion(): StateVersion;
  uptimeMs(): number;
  policy: { maxBufferedBytes: number; tickIntervalMs: number };
}

/** The answer to a successful handshake as JSON (HelloOk), in parts. */
export type Hello = (connId: string, principal: Principal) => Buffer[];

/**
 * A hello contains the server, what this principal may use, and the initial state. Thousands of clients may reconnect at
 * once, so shared parts are encoded once.
 */
export function createHello(view: GatewayView, defer: Defer): Hello {
  const encodeFeatures = createFeatures();
  const forOthers = createSnapshot(view, defer, { presence: () => NOBODY, health: () => '{}' });
  const forReaders = createSnapshot(view, defer, view);
  return (connId, principal) => {
    const { scopes, source } = principal;
    // Nodes, and callers who may not read, get no information about other clients and the daemon's health.
    const snapshot = holds(scopes, 'read') ? forReaders() : forOthers();
    const server = JSON.stringify({ ...view.server, connId });
    const policy = JSON.stringify({ maxPayload: maxPayloadOf(source), ...view.policy });
    const { protocolVersion } = LIMITS;
    const start = `{"type":"hello-ok","protocol":${protocolVersion},"server":${server},"features":`;
    return [Buffer.from(start), encodeFeatures(principal), SNAPSHOT, ...snapshot, Buffer.from(`,"policy":${policy}}`)];
  };
}

const SNAPSHOT = Buffer.from(',"snapshot":{"presence":');
const NOBODY = Buffer.from('[]');

/** The state at this moment as JSON behind SNAPSHOT, in parts, encoded once for all handshakes of a turn of the event loop between which no client came or left. */
function createSnapshot(
  view: Pick<GatewayView, 'stateVersion' | 'uptimeMs'>,
  defer: Defer,
  read: { presence(): Buffer; health(): string },
): () => Buffer[] {
  let known: { version: number; json: Buffer[] } | undefined;
  /** No request is answered between the hellos of a turn, so it is the same for all of them. */
  let health: string | undefined;
  const forget = () => {
    known = undefined;
    health = undefined;
  };
  const encode = (stateVersion: StateVersion): Buffer[] => {
    const version = `{"presence":${stateVersion.presence},"health":${stateVersion.health}}`;
    health ??= read.health();
    const uptimeMs = Math.floor(view.uptimeMs());
    return [read.presence(), Buffer.from(`,"health":${health},"stateVersion":${version},"uptimeMs":${uptimeMs}}`)];
  };
  return () => {
    const stateVersion = view.stateVersion();
    if (known?.version === stateVersion.presence) return known.json;
    if (!known) defer(forget);
    known = { version: stateVersion.presence, json: encode(stateVersion) };
    return known.json;
  };
}

/** A client that is still unauthenticated after the handshake keeps the small limit of before. */
export const maxPayloadOf = ({ kind }: Principal['source']): number =>
  kind === 'unpaired' ? LIMITS.maxPayloadBeforeConnectBytes : LIMITS.maxPayloadBytes;
