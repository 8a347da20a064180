import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { isWebSocketUpgrade } from '../gateway/connections/upgrade.ts';
import type { Log } from '../log.ts';
import type { HttpApp } from './app.ts';
import type { BodyDeadlines } from './body-deadlines.ts';
import { everyAnswer, failureAnswer } from './exchange.ts';
import type { RequestIdOf } from './request-id.ts';

interface ServerDeps {
  bodies: Pick<BodyDeadlines, 'begin'>;
  /**
   * Whether a connection comes from a sandboxed command, which may not connect to the daemon; undefined if that is
   * impossible.
   */
  isSandboxedPeer(connection: Socket): Promise<boolean> | undefined;
  clock: Clock;
  log: Log;
}

/** The time that the slowest allowed upload takes. `bodies` limits other requests. */
const LONGEST_MS = LIMITS.bodyMs * (2 + Math.ceil(LIMITS.attachmentBytes / LIMITS.uploadProgressBytes));

/**
 * Creates a server with limits against slow and oversized requests. Streams are responses, so these limits do not
 * affect them.
 */
export function createHttpServer({ listener, classes, requestIdOf }: HttpApp, deps: ServerDeps): Server {
  const { bodies, isSandboxedPeer, clock, log } = deps;
  const server = createServer(
    {
      headersTimeout: LIMITS.headMs,
      connectionsCheckingInterval: 5_000, // Node's default of 30 s would give a request head up to 45 s
      requestTimeout: LONGEST_MS,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16 * 1024,
      insecureHTTPParser: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
      IncomingMessage: classes.IncomingMessage,
      ServerResponse: classes.ServerResponse,
    },
    (req, res) => {
      bodies.begin(req, res);
      listener(req, res);
    },
  );
  server.maxHeadersCount = LIMITS.requestHeaders + 1; // Node drops further headers silently; one more makes the excess visible
  // Without a listener, Node answers itself and reads the body to its end.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const headers = everyAnswer({ requestId: requestIdOf(req) });
    res.writeHead(417, { ...headers, 'Content-Length': 0, Connection: 'close' }).end();
  });
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    // Without a listener, a client that resets its connection would end the process.
    socket.on('error', (error) => log.debug({ err: error }, 'a connection failed'));
    const judged = isSandboxedPeer(socket);
    if (judged !== undefined) void holdBack(socket, judged, { requestIdOf, clock, log });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const requestId = requestIdOf(UNREAD);
    // Without the error itself: it holds the bytes that were sent, and they may be a credential. A client that leaves during
    // a body is logged with its request.
    if (error.code !== 'HPE_INVALID_EOF_STATE')
      log.debug({ requestId, status, code: error.code }, 'refused a request that cannot be read');
    socket.end(unreadAnswer({ status, requestId }));
    closeSoon(socket, clock);
  });
  return server;
}

/** Reads nothing from a connection, neither a request nor an upgrade, before its origin is known. */
async function holdBack(
  socket: Socket,
  judged: Promise<boolean>,
  { requestIdOf, clock, log }: Pick<ServerDeps, 'clock' | 'log'> & { requestIdOf: RequestIdOf },
): Promise<void> {
  // The server has just started to read, in its own tick, and nothing has arrived yet.
  queueMicrotask(() => socket.pause());
  if (!(await judged)) return void socket.resume();
  const requestId = requestIdOf(UNREAD);
  log.warn({ requestId }, 'refused a connection from a sandboxed command');
  const { contentType, body } = failureAnswer({ requestId }, SANDBOXED);
  socket.end(unreadAnswer({ status: '403 Forbidden', requestId, contentType, body }));
  closeSoon(socket, clock);
}

const SANDBOXED = { status: 403, body: { error: 'Forbidden: sandboxed commands cannot connect to the daemon' } };

/** Stands for a request whose head was not read, so its own id is unknown. */
const UNREAD = { headers: {} };

interface UnreadAnswer {
  /** The number and its text. */
  status: string;
  requestId: string;
  contentType?: string | undefined;
  /** In ASCII. */
  body?: string;
}

/** The bytes of an answer to a request that Node has not read. */
function unreadAnswer({ status, requestId, contentType, body = '' }: UnreadAnswer): string {
  const headers = {
    ...everyAnswer({ requestId }),
    Connection: 'close',
    ...(contentType !== undefined && { 'Content-Type': contentType }),
    'Content-Length': body.length,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n');
}

const LINGER_MS = 1_000;

/**
 * Closes after a delay, because closing at once could reset the connection before the client reads the answer. Without
 * this, a client could also keep it open.
 */
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
