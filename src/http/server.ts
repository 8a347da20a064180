import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { isWebSocketUpgrade } from '../gateway/connections/upgrade.ts';
import type { Log } from '../log.ts';
import type { HttpApp } from './app.ts';
import type { BodyDeadlines } from './body-deadlines.ts';

interface ServerDeps {
  bodies: Pick<BodyDeadlines, 'begin'>;
  /** Whether a connection comes from a command of the agent, which may not talk to us; undefined if that cannot be. */
  isSandboxedPeer(connection: Socket): Promise<boolean> | undefined;
  clock: Clock;
  log: Log;
}

/** No request takes longer than the slowest upload that is taken; what holds for the others is the business of `bodies`. */
const LONGEST_MS = LIMITS.bodyMs * (2 + Math.ceil(LIMITS.attachmentBytes / LIMITS.uploadProgressBytes));

/** A server with limits against slow and oversized requests. Streams are answers, so the request limits leave them alone. */
export function createHttpServer({ listener, ...classes }: HttpApp, deps: ServerDeps): Server {
  const { bodies, isSandboxedPeer, clock, log } = deps;
  const server = createServer(
    {
      headersTimeout: LIMITS.headMs,
      connectionsCheckingInterval: 5_000, // Node's 30 s would let a head take 45
      requestTimeout: LONGEST_MS,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16 * 1024,
      insecureHTTPParser: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
      ...classes,
    },
    (req, res) => {
      bodies.begin(req, res);
      listener(req, res);
    },
  );
  server.maxHeadersCount = LIMITS.requestHeaders + 1; // Node drops what is beyond; with one more it shows
  // Without a listener Node answers by itself, and reads the body for as long as it comes.
  server.on('checkExpectation', (_, res: ServerResponse) => {
    res.writeHead(417, { 'Access-Control-Allow-Origin': '*', 'Content-Length': 0, Connection: 'close' }).end();
  });
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    // Without a listener one client that resets its connection would end the process.
    socket.on('error', (error) => log.debug({ err: error }, 'a connection broke'));
    const judged = isSandboxedPeer(socket);
    if (judged !== undefined) void holdBack(socket, judged, deps);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(
      `HTTP/1.1 ${status}\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    closeSoon(socket, clock);
  });
  return server;
}

/** Nothing is read from a connection before it is known whose it is: neither a request nor an upgrade. */
async function holdBack(socket: Socket, judged: Promise<boolean>, { clock, log }: ServerDeps): Promise<void> {
  // Here the server has begun to read, in a tick of its own, and nothing has arrived yet.
  queueMicrotask(() => socket.pause());
  if (!(await judged)) return void socket.resume();
  log.warn({}, 'refused a connection of a sandboxed command');
  socket.end([...REFUSAL, `Content-Length: ${SANDBOXED.length}`, '', SANDBOXED].join('\r\n'));
  closeSoon(socket, clock);
}

const REFUSAL = [
  'HTTP/1.1 403 Forbidden',
  ...['Access-Control-Allow-Origin: *', 'Connection: close', 'Content-Type: application/json'],
];
const SANDBOXED = JSON.stringify({ error: 'Forbidden: sandboxed commands cannot connect to the daemon' });

const LINGER_MS = 1_000;

/** Closing at once could reset the connection before the answer is read; and who was answered need not ever hang up. */
function closeSoon(socket: Socket, clock: Clock): void {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  const close = () => socket.destroy();
  clock.sleep(LINGER_MS, closed.signal).then(close, close);
}

const CLIENT_ERRORS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
