import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { wordsOf } from '../protocol/words-of.ts';
import type { Clock } from './clock.ts';
import { StartError } from './start-error.ts';

/** An address, or a socket that listens there already. */
export interface ListenAddress {
  host: string;
  port: number;
  /** The descriptor of an inherited socket. */
  descriptor?: number | undefined;
  /** A server whose socket is taken over, so that no client is refused meanwhile; its open connections stay its own. */
  before?: Server | undefined;
}

/** Opens the port and resolves with its number, which port 0 leaves to the system. Rejects with StartError. */
export async function listen(server: Server, { host, port, descriptor, before }: ListenAddress): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  watchUnread(server);
  server.listen(before ?? (descriptor === undefined ? { host, port } : { fd: descriptor }), () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  try {
    return await promise;
  } catch (error) {
    throw new StartError(listenProblem(error, { host, port }), { cause: error });
  }
}

/** The descriptor of the socket of a listening server, for a process that is to inherit it. */
export function descriptorOf(server: Server): number {
  const handle: unknown = Reflect.get(server, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof fd !== 'number' || fd < 0) throw new StartError('The listening socket cannot be handed over.');
  return fd;
}

/** Rejects with StartError if the address cannot be listened on. Called before a start creates or changes anything. */
export async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  if (address.port !== 0) await requireAddress(address);
}

/** The same, also for port 0: then only the host is tried. */
export async function requireAddress(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function listenProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use. Choose another with --port N.`;
  if (code === 'EACCES') return `Port ${port} requires more rights. Choose one above 1023 with --port N.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `This machine has no address ${host} (--host).`;
  return `Cannot listen on ${host}:${port}: ${wordsOf(error)}`;
}

/** How long requests that were accepted in the last moment get for their answers, and how often this is looked at. */
const LAST_ANSWERS_MS = 300;
const LOOK_MS = 10;

/** Connections whose first request has not arrived yet. Closing a server resets them, because Node counts them as idle. */
const unread = new WeakMap<Server, Set<Socket>>();

function watchUnread(server: Server): void {
  const sockets = new Set<Socket>();
  unread.set(server, sockets);
  function onClose(this: Socket): void {
    sockets.delete(this);
  }
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', onClose);
  });
  const onRead = ({ socket }: IncomingMessage) => void sockets.delete(socket);
  server.on('request', onRead);
  if (server.listenerCount('upgrade') > 0) server.on('upgrade', onRead);
}

/** Refuses new connections, and closes idle ones; `lastAnswers`: those that wait for an answer only in `closeServer`. */
export function closePort(server: Server, { lastAnswers }: { lastAnswers: boolean }): void {
  if (lastAnswers) NetServer.prototype.close.call(server);
  else server.close();
}

/** Refuses new connections and closes the open ones; with a clock, those that wait for an answer a moment later. */
export async function closeServer(server: Server, clock?: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  if (clock !== undefined) await untilAnswered(server, { closed, clock });
  server.close();
  server.closeAllConnections();
  await closed;
}

async function untilAnswered(
  server: Server,
  { closed, clock }: { closed: Promise<void>; clock: Clock },
): Promise<void> {
  const { signal } = new AbortController();
  let isClosed = false;
  const end = closed.then(() => {
    isClosed = true;
  });
  const endMs = clock.monotonic() + LAST_ANSWERS_MS;
  while (!isClosed && clock.monotonic() < endMs) {
    if (!unread.get(server)?.size) server.closeIdleConnections();
    await Promise.race([end, clock.sleep(LOOK_MS, signal)]);
  }
}

/**
 * The daemon's URL for people, without a trailing slash. It names the bound address rather than `localhost`, which may
 * lead a browser to ::1, where another user of the machine could listen and read the login code.
 */
export function urlOf({
  host,
  port,
  publicUrl,
}: {
  host: string;
  port: number;
  publicUrl: string | undefined;
}): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const address = BOUND[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const BOUND: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
