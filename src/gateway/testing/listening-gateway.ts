import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HelloOk } from '../../../protocol/connect.ts';
import type { Scope } from '../../../protocol/contract.ts';
import type { Principal } from '../auth/principal.ts';
import { isWebSocketUpgrade, type RefuseUpgrade } from '../connections/upgrade.ts';
import { expandScopes } from '../rights.ts';
import { DAEMON } from '../sharing/perception.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { localOrigins } from './default-deps.ts';
import { CONNECT, openClient, type TestClient } from './test-client.ts';
import { type WholeGateway, type WholeGatewayOptions, wholeGateway } from './whole-gateway.ts';

interface ListeningOptions extends WholeGatewayOptions {
  isAuthEnabled?: boolean;
}

/** The tokens that the gateway accepts, and their scopes. */
const TOKENS = new Map<string, Scope[]>([
  ['read-token', ['read']],
  ['write-token', ['write']],
  ['approve-token', ['approve']],
]);

/** The whole gateway on a free port. */
export async function listeningGateway({ isAuthEnabled = true, ...options }: ListeningOptions = {}) {
  const { authenticator, revoke } = createTestAuthenticator();
  const withAuth = { authenticator, originPolicy: localOrigins({ authEnabled: true }) };
  const gateway = await wholeGateway({ ...(isAuthEnabled && withAuth), ...options });
  const dispose = gateway[Symbol.asyncDispose];
  const { port, http, ...listening } = await listenFor(gateway);
  const clients: TestClient[] = [];
  async function open(headers: Record<string, string> = {}, path = '/v1/ws'): Promise<TestClient> {
    const client = await openClient(`ws://127.0.0.1:${port}${path}`, headers);
    clients.push(client);
    return client;
  }

  return Object.assign(gateway, {
    port,
    http,
    /** A socket before its handshake. */
    open,
    /** A client after its handshake. */
    async client(token = 'approve-token', params: object = {}) {
      const client = await open();
      const answer = await client.request('connect', { ...CONNECT, ...params, auth: { token } });
      return Object.assign(client, { hello: answer.payload as HelloOk });
    },
    revoke,
    restart: listening.restart,
    async crash(how?: Parameters<typeof gateway.crash>[0]) {
      for (const { socket } of clients.splice(0)) socket.terminate();
      await listening.crash(how);
    },
    async [Symbol.asyncDispose]() {
      await listening.close();
      for (const { socket } of clients) socket.terminate();
      await dispose();
    },
  });
}

/** The product's answer is that of the HTTP edge. */
const refuse: RefuseUpgrade = (_request, socket, { status, headers = {} }) => {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${fields.join('')}Connection: close\r\n\r\n`);
};

/** Serves the gateway on a port; after a restart or a crash, the new process serves the same one. */
async function listenFor(gateway: WholeGateway) {
  const http = createServer({ shouldUpgradeCallback: isWebSocketUpgrade }, (_, res) => res.writeHead(404).end('plain'));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const { restart, crash } = gateway;
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const serve = () => {
    stop = new AbortController();
    http.removeAllListeners('upgrade');
    gateway.gateway.sockets.attach(http, refuse);
    running = gateway.gateway.run(stop.signal);
  };
  const halt = async () => {
    stop.abort();
    await running;
  };
  serve();
  return {
    port,
    http,
    async restart() {
      await halt();
      await restart();
      serve();
    },
    async crash(how?: Parameters<typeof crash>[0]) {
      running.catch(() => undefined); // the killed process may fail on its closed store
      stop.abort();
      await crash(how);
      serve();
    },
    async close() {
      await halt();
      http.closeAllConnections();
      http.close();
    },
  };
}

function createTestAuthenticator() {
  const revocations = new Map<string, AbortController>();

  function authenticate(token = ''): Principal | undefined {
    const scopes = TOKENS.get(token);
    if (!scopes) return undefined;
    const revocation = revocations.get(token) ?? new AbortController();
    revocations.set(token, revocation);
    return {
      ...{ id: token, scopes: expandScopes(scopes), permissions: ALL_PERMISSIONS },
      ...{ source: { kind: 'local' }, ended: revocation.signal },
    };
  }

  return {
    authenticator: { enabled: true, authenticate, endOf: () => undefined, viewerOf: () => DAEMON },
    revoke: (token: string) => revocations.get(token)?.abort(),
  };
}
