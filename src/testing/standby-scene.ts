import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { createClientAddress } from '../gateway/auth/client-address.ts';
import { FORWARDED, UNKNOWN_SESSION } from '../gateway/auth/machines/forwarded-head.ts';
import { createMachineKey } from '../gateway/auth/machines/machine-key.ts';
import { createMachineSessions, type MachineSessions } from '../gateway/auth/machines/machine-sessions.ts';
import type { Membership } from '../gateway/workers/team.ts';
import { GREETING, GREETING_PATH } from '../http/machines/machine-edge.ts';
import type { ActiveDaemon } from '../http/standby/active-daemon.ts';
import { createStandbyServer } from '../http/standby/standby-server.ts';
import { randomIds } from '../ids.ts';
import { fakeClock } from './fake-clock.ts';
import { recordingLog } from './temp-store.ts';

interface SceneOptions {
  /** The answer of the active daemon. */
  answer?: RequestListener | undefined;
  upgrade?: ((req: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  /** Of a worker. */
  membership?: Membership | undefined;
  /** A certificate of `localhost` and its key: the active daemon is behind TLS. */
  tls?: { cert: string; key: string } | undefined;
}

/** What the active daemon got. */
export interface GotRequest {
  client: ReturnType<MachineSessions['clientOf']>;
  method: string | undefined;
  url: string | undefined;
  rawHeaders: readonly string[];
}

/** A server as of an active daemon, and a real standby before it. Tests write raw requests. */
export async function standbyScene({ answer, upgrade, membership, tls }: SceneOptions = {}) {
  const own = { process: 'standby', key: createMachineKey() };
  const one = await someActive('one', { known: own.key.publicKey, answer, upgrade, tls });
  const clock = fakeClock();
  const log = recordingLog();
  let active: ActiveDaemon | undefined = one.daemon;
  const { server, forwarder, show } = createStandbyServer({
    state: () => ({ version: '1.0.0', nodeId: 'here_0001', membership, active: undefined }),
    own,
    active: () => active,
    originPolicy: { checkHost: (host) => host === 'localhost' },
    clientAddress: createClientAddress([]),
    requestIdPrefix: 'standby',
    clock,
    log,
  });
  const port = await listening(server);
  const more: Server[] = [];
  return {
    ...{ one, clock, log, server, forwarder, show, port },
    /** From now on, the database names this one. */
    name(daemon: ActiveDaemon | undefined) {
      active = daemon;
    },
    async another(process: string) {
      const other = await someActive(process, { known: own.key.publicKey, answer, upgrade });
      more.push(other.server);
      return other;
    },
    connections: () => promisify(server.getConnections.bind(server))(),
    /** Connects, and sends. */
    send: (text: string) => rawClient(port, text),
    /** All that comes until the connection ends. */
    async ask(text: string) {
      const client = rawClient(port, text);
      await client.closed;
      return client.received();
    },
    async [Symbol.asyncDispose]() {
      forwarder.close();
      for (const each of [server, one.server, ...more]) await closed(each);
    },
  };
}

async function someActive(process: string, { known, answer, upgrade, tls }: SceneOptions & { known: string }) {
  const key = createMachineKey();
  const open = () =>
    createMachineSessions({
      ...{ process, key, ids: randomIds },
      findKey: async (from) => (from === 'standby' ? known : undefined),
    });
  const state = { machines: open(), greetings: 0 };
  const got: GotRequest[] = [];
  const sockets = new Set<Duplex>();
  const note = (req: IncomingMessage) => {
    const client = state.machines.clientOf(req);
    got.push({ client, method: req.method, url: req.url, rawHeaders: req.rawHeaders });
    return client;
  };
  const onRequest: RequestListener = (req, res) => {
    if (req.url === GREETING_PATH) {
      state.greetings += 1;
      const [from = '', to = '', once = '', signature = ''] = String(req.headers[GREETING]).split(';');
      void state.machines.greet({ from, to, once, signature }).then((welcome) => {
        res.statusCode = welcome ? 200 : 403;
        res.end(JSON.stringify(welcome ?? {}));
      });
    } else if (note(req) === 'unknown') res.writeHead(503, { [UNKNOWN_SESSION]: '1' }).end();
    else if (answer) answer(req, res);
    else res.end(`${process} answers`);
  };
  const server = tls ? createSecureServer(tls, onRequest) : createServer(onRequest);
  if (upgrade)
    server.on('upgrade', (req, socket: Duplex, head) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (note(req) === 'unknown') socket.end(`HTTP/1.1 503 No\r\n${UNKNOWN_SESSION}: 1\r\nConnection: close\r\n\r\n`);
      else upgrade(req, socket, head);
    });
  server.on('close', () => {
    for (const socket of sockets) socket.destroy();
  });
  const port = await listening(server);
  const address = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const daemon: ActiveDaemon = { process, address, publicKey: key.publicKey };
  return {
    ...{ server, daemon, got, state },
    /** As a daemon that has forgotten its sessions. */
    forget() {
      state.machines = open();
    },
  };
}

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  const over = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await over;
}

function rawClient(port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (part) => {
    received += part;
  });
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  const over = Promise.withResolvers<void>();
  socket.once('close', () => over.resolve());
  return { socket, received: () => received, closed: over.promise };
}

/** A request with these headers, whose connection ends with it. */
export const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', body].join('\r\n');

/** The headers of a request that the client sent. */
export const headersOf = ({ rawHeaders }: Pick<GotRequest, 'rawHeaders'>): string[] =>
  rawHeaders.flatMap((name, at) => {
    const isOwn = at % 2 === 1 || [FORWARDED, 'connection'].includes(name.toLowerCase());
    return isOwn ? [] : [`${name}: ${rawHeaders[at + 1]}`];
  });
