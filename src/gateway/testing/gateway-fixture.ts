import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../../../protocol/contract.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { HelloOk } from '../../../protocol/methods/connect.ts';
import { createEndOfTurn } from '../../end-of-turn.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { createClientAddress } from '../auth/client-address.ts';
import { createOriginPolicy } from '../auth/origin-policy.ts';
import type { Principal } from '../auth/principal.ts';
import type { Handlers } from '../call.ts';
import { type Broadcast, createBroadcast } from '../connections/broadcast.ts';
import type { Follow } from '../connections/subscriptions.ts';
import { createDispatch } from '../dispatch.ts';
import { createFrameCheck } from '../frame-check.ts';
import { systemMethods } from '../methods/system.ts';
import { createPresence } from '../presence.ts';
import { createGatewayServer, type GatewayServerDeps } from '../server.ts';
import { CONNECT, openClient, type TestClient } from './test-client.ts';

interface FixtureOptions {
  handlers?: Partial<Handlers>;
  isAuthEnabled?: boolean;
  maxBufferedBytes?: number;
  follow?: Follow;
}

/** The tokens that the fixture's authenticator knows, and what they are good for. */
const TOKENS = new Map<string, Scope[]>([
  ['read-token', ['read']],
  ['write-token', ['write']],
  ['approve-token', ['approve']],
]);

/** What a connection may ask where nobody configured it. */
export const INBOUND = { burst: LIMITS.inboundBurst, perSecond: LIMITS.inboundPerSecond };

/** A real gateway on a free port, with a clock that stands still and a handful of handlers. */
export async function openGateway(options: FixtureOptions = {}) {
  const http = createServer((_, response) => response.end('plain'));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const parts = createParts(options, port);
  const stop = new AbortController();
  parts.gateway.attach(http);
  const running = parts.gateway.run(stop.signal);

  const url = `ws://127.0.0.1:${port}/v1/ws`;
  const clients: TestClient[] = [];
  async function open(headers: Record<string, string> = {}, target = url): Promise<TestClient> {
    const client = await openClient(target, headers);
    clients.push(client);
    return client;
  }

  return {
    ...parts,
    port,
    open,
    async connect(token = 'approve-token', params: object = {}) {
      const client = await open();
      const answer = await client.request('connect', { ...CONNECT, ...params, auth: { token } });
      return Object.assign(client, { hello: answer.payload as HelloOk });
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      for (const { socket } of clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

/** A gateway that lets no node in. */
export const noNodes: GatewayServerDeps['nodes'] = {
  admit: () => assert.fail('no node is expected'),
  join: () => assert.fail('no node is expected'),
};

/** A broadcast that throws on an event its own row refuses. */
export function strictBroadcast(): Broadcast {
  const onInvalid = (event: string, problem: unknown) => {
    throw new Error(`invalid ${event} event`, { cause: problem });
  };
  return createBroadcast({ check: createFrameCheck({ every: 1, onInvalid }) });
}

function createParts({ handlers, isAuthEnabled = true, maxBufferedBytes, follow }: FixtureOptions, port: number) {
  const clock = fakeClock(1_000_000);
  const log = recordingLog();
  const { authenticator, revoke } = createTestAuthenticator(isAuthEnabled);
  const broadcast = strictBroadcast();
  const presence = createPresence({ self: { host: 'here', version: '1', platform: 'linux' }, clock });
  const dispatch = createDispatch({
    handlers: { ...systemMethods({ presence, systemEvents: { add: async () => undefined } }), ...handlers },
    idempotency: { answer: async (_, work) => work({ kept: undefined, keep: () => [], momentary: () => undefined }) },
    metrics: { request: () => undefined },
    check: createFrameCheck({ onInvalid: () => undefined }), // handlers of these tests answer what suits them
    clock,
    log,
  });
  let connIds = 0;
  const gateway = createGatewayServer({
    dispatch,
    authenticator,
    clientAddress: createClientAddress([]),
    originPolicy: createOriginPolicy({
      authEnabled: isAuthEnabled,
      allowedHosts: [],
      allowedOrigins: [],
      publicUrl: undefined,
      host: '127.0.0.1',
      port,
    }),
    broadcast,
    presence,
    nodes: noNodes,
    follow: follow ?? (() => ({ resume: () => undefined, close: () => undefined, offset: 0 })),
    live: { inbound: INBOUND },
    defer: createEndOfTurn().defer,
    onRateLimited: () => undefined,
    health: { latest: () => ({}), version: () => 1 },
    server: { version: '1.2.3', host: 'here' },
    clock,
    ids: { id: (prefix) => `${prefix}_${++connIds}` },
    log,
    ...(maxBufferedBytes !== undefined && { maxBufferedBytes }),
  });
  return { clock, log, broadcast, presence, gateway, revoke };
}

function createTestAuthenticator(enabled: boolean) {
  const revocations = new Map<string, AbortController>();

  async function authenticate(token = ''): Promise<Principal | undefined> {
    const scopes = enabled ? TOKENS.get(token) : (['approve'] as const);
    if (!scopes) return undefined;
    const revocation = revocations.get(token) ?? new AbortController();
    revocations.set(token, revocation);
    return { id: token || 'local', scopes: new Set(scopes), source: { kind: 'local' }, revoked: revocation.signal };
  }

  return {
    authenticator: { enabled, authenticate, endOf: () => undefined },
    revoke: (token: string) => revocations.get(token)?.abort(),
  };
}
