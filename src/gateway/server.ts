import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { PresenceEntry } from '../../protocol/connect.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Defer } from '../timing/end-of-turn.ts';
import { whenThere } from '../timing/when-there.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { ClientAddress } from './auth/client-address.ts';
import type { OriginPolicy } from './auth/origin-policy.ts';
import type { Broadcast } from './connections/broadcast.ts';
import { Connection, type ConnectionDeps } from './connections/connection.ts';
import { createDeadlines } from './connections/deadlines.ts';
import { createEntrance } from './connections/entrance.ts';
import { createHello, type GatewayView } from './connections/hello.ts';
import { createFrameJoin } from './connections/outbox.ts';
import { createRevocations } from './connections/revocations.ts';
import type { Follow } from './connections/subscriptions.ts';
import { type RefuseUpgrade, STOPPING, type Upgrade, unacceptable } from './connections/upgrade.ts';
import { SocketWire } from './connections/wire.ts';
import type { Dispatch } from './dispatch.ts';
import type { Presence } from './presence/presence.ts';

export interface GatewayServerDeps {
  dispatch: Dispatch;
  authenticator: Authenticator;
  originPolicy: Pick<OriginPolicy, 'refusalOfHost' | 'isOwn' | 'admitsSocket'>;
  clientAddress: ClientAddress;
  broadcast: Broadcast;
  presence: Presence;
  nodes: ConnectionDeps['nodes'];
  follow: Follow;
  /** A request was refused because of the rate limit. */
  onRateLimited(): void;
  /** A health summary as JSON, and the counter of its changes. */
  health: { latest(): string; version(): number };
  server: GatewayView['server'];
  defer: Defer;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
  tickIntervalMs?: number | undefined;
  maxBufferedBytes?: number;
  live: ConnectionDeps['live'];
}

/** The WebSocket side of the gateway, on an HTTP server that the caller opens and closes. */
export interface GatewayServer {
  attach(server: Server, refuse: RefuseUpgrade): void;
  /** Sends ticks, pings and presence, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Announces the shutdown, refuses new clients and closes all connections with `service_restart`. Resolves when all
   * are closed.
   */
  shutdown(reason: string, options?: { restartExpectedMs?: number }): Promise<void>;
  /** Open sockets, including those in the handshake. */
  readonly connections: number;
}

export function createGatewayServer(deps: GatewayServerDeps): GatewayServer {
  const { broadcast, presence, health, clock } = deps;
  const tickIntervalMs = deps.tickIntervalMs ?? LIMITS.tickIntervalMs;
  const maxBufferedBytes = deps.maxBufferedBytes ?? LIMITS.maxBufferedBytes;
  const stateVersion = () => ({ presence: presence.version(), health: health.version() });
  const view: GatewayView = {
    server: deps.server,
    presence: () => presence.json(),
    health: () => health.latest(),
    stateVersion,
    uptimeMs: () => clock.monotonic(),
    policy: { maxBufferedBytes, tickIntervalMs },
  };
  const hello = createHello(view, deps.defer);
  const { connections, attach, shut } = createDoor(deps, {
    dispatch: deps.dispatch,
    authenticator: deps.authenticator,
    hello,
    presence,
    nodes: deps.nodes,
    broadcast,
    revocations: createRevocations(),
    onRateLimited: deps.onRateLimited,
    follow: deps.follow,
    live: deps.live,
    maxBufferedBytes,
    defer: deps.defer,
    join: createFrameJoin(),
    deadlines: createDeadlines({ ms: LIMITS.handshakeMs, clock }),
    clock,
    log: deps.log,
  });

  async function tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(tickIntervalMs, signal).catch(() => undefined); // aborted: the loop ends
      if (signal.aborted) return;
      broadcast.publish('tick', { ts: clock.now() });
      for (const connection of [...connections]) connection.tick();
      presence.sweep();
    }
  }

  return {
    attach,
    async run(signal) {
      const publish = (entries: PresenceEntry[]) =>
        broadcast.publish('presence', { presence: entries }, { stateVersion: stateVersion() });
      // Everyone gets the full list, so with more clients it is sent less often.
      const pauseMs = () => Math.max(1_000, connections.size);
      await Promise.all([tick(signal), presence.run(signal, { publish, pauseMs })]);
    },
    async shutdown(reason, { restartExpectedMs } = {}) {
      const emptied = shut();
      broadcast.publish('shutdown', { reason, ...(restartExpectedMs !== undefined && { restartExpectedMs }) });
      for (const connection of [...connections]) connection.close('service_restart');
      const grace = new AbortController();
      await Promise.race([emptied, clock.sleep(GRACE_MS, grace.signal).catch(() => undefined)]);
      grace.abort();
      for (const connection of [...connections]) connection.terminate();
    },
    get connections() {
      return connections.size;
    },
  };
}

interface Asked {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

type Admitted = Pick<Upgrade, 'address' | 'credential' | 'leaveLobby'>;

type DoorDeps = Pick<GatewayServerDeps, 'authenticator' | 'originPolicy' | 'clientAddress' | 'ids' | 'log'>;

/** Admits sockets and creates their connections. */
function createDoor(
  { authenticator, originPolicy, clientAddress, ids, log }: DoorDeps,
  connectionDeps: ConnectionDeps,
) {
  const connections = new Set<Connection>();
  const enter = createEntrance({ authenticator, originPolicy, log });
  const sockets = new WebSocketServer(SOCKET_OPTIONS);
  let isClosing = false;
  const emptied = Promise.withResolvers<void>();

  function onGone(): void {
    if (isClosing && connections.size === 0) emptied.resolve();
  }

  function onClose(this: WebSocket): void {
    const connection = connectionOf(this);
    if (!connection) return;
    connections.delete(connection);
    connection.onClose();
    onGone();
  }

  function open(client: ClientSocket, socket: Duplex, upgrade: Upgrade): void {
    const connection = new Connection(new SocketWire(client, socket, log), upgrade, connectionDeps);
    connections.add(connection);
    client.connection = connection;
    client.raw = socket;
    client.on('message', onMessage).on('pong', onPong).on('error', onError).on('close', onClose);
    socket.on('finish', destroyFinished);
  }

  const onSocketError = (error: Error) => log.debug({ err: error }, 'a socket failed');

  function onUpgrade({ request, socket, head }: Asked, refuse: RefuseUpgrade): void {
    socket.on('error', onSocketError);
    const address = clientAddress(request);
    void whenThere(enter({ request, socket, address }), (entry) => {
      if (entry.kind === 'admitted' && !isClosing) letIn({ request, socket, head }, { ...entry, address });
      else refuse(request, socket, entry.kind === 'refused' ? entry.refusal : STOPPING);
    });
  }

  function letIn({ request, socket, head }: Asked, { address, credential, leaveLobby }: Admitted): void {
    // Like answers, the upgrades of one turn of the event loop are written together.
    socket.cork();
    connectionDeps.defer(() => socket.uncork());
    const hasOrigin = request.headers.origin !== undefined;
    // Nothing that lives as long as the socket may refer to the request: it would stay in memory.
    sockets.handleUpgrade(request, socket, head, (client) =>
      open(client, socket, { connId: ids.id('conn'), address, credential, hasOrigin, leaveLobby }),
    );
  }

  return {
    connections,
    attach(server: Server, refuse: RefuseUpgrade): void {
      server.on('upgrade', (request, socket, head) => onUpgrade({ request, socket, head }, refuse));
      sockets.on('wsClientError', (error, socket, request) => refuse(request, socket, unacceptable(error)));
    },
    /** Refuses new clients; resolves when the last one is gone. */
    shut(): Promise<void> {
      isClosing = true;
      onGone();
      return emptied.promise;
    },
  };
}

/** A WebSocket that knows its connection, so that all of them share the functions that listen. */
class ClientSocket extends WebSocket {
  connection: Connection | undefined;
  raw: Duplex | undefined;
}

const connectionOf = (socket: WebSocket) => (socket instanceof ClientSocket ? socket.connection : undefined);

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  connectionOf(this)?.onMessage(isBinary ? undefined : data.toString());
}

function onPong(this: WebSocket): void {
  connectionOf(this)?.onPong();
}

function onError(this: WebSocket, error: Error): void {
  // The client may still be sending. Destroying the socket then would reset the connection, and the client would lose the close
  // frame. `closeTimeout` ends it.
  if (this instanceof ClientSocket) this.raw?.off('finish', destroyFinished);
  connectionOf(this)?.onViolation(error);
}

const SOCKET_OPTIONS = {
  noServer: true,
  WebSocket: ClientSocket,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: LIMITS.maxPayloadBeforeConnectBytes,
  maxFragments: 256,
  maxBufferedChunks: 4096,
  closeTimeout: 2_000,
};

const GRACE_MS = 1_000;

/**
 * Once both close frames are sent, the server closes the connection first (RFC 6455, section 7.1.1). Waiting for the
 * client's end would keep the descriptor for as long as the client likes.
 */
function destroyFinished(this: Duplex): void {
  this.destroy();
}
