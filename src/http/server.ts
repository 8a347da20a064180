import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { isWebSocketUpgrade } from '../gateway/connections/upgrade.ts';
import type { Log } from '../log.ts';
import type { HttpApp } from './app.ts';
import type { BodyDeadlines } from './body-deadlines.ts';
import { failureAnswer } from './exchange.ts';
import { closeSoon, rawAnswer } from './raw/raw-answer.ts';
import type { Failure } from './status.ts';

interface ServerDeps {
  bodies: Pick<BodyDeadlines, 'begin'>;
  clock: Clock;
  log: Log;
}

/** The time that the slowest allowed upload takes. `bodies` limits other requests. */
const LONGEST_MS = LIMITS.bodyMs * (2 + Math.ceil(LIMITS.attachmentBytes / LIMITS.uploadProgressBytes));

/**
 * Creates a server with limits against slow and oversized requests. Streams are responses, so these limits do not
 * affect them.
 */
export function createHttpServer({ listener, classes, requestIdOf, raw }: HttpApp, deps: ServerDeps): Server {
  const { bodies, clock, log } = deps;
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
  server.on('checkExpectation', raw.refuseExpectation);
  server.on('connect', raw.refuseConnect);
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    // Without a listener, a client that resets its connection would end the process.
    socket.on('error', (error) => log.debug({ err: error }, 'a connection failed'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const failure = CLIENT_ERRORS[error.code ?? ''] ?? INVALID;
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const requestId = requestIdOf(UNREAD);
    // Without the error itself: it holds the bytes that were sent, and they may be a credential. A client that leaves during
    // a body is logged with its request.
    if (error.code !== 'HPE_INVALID_EOF_STATE')
      log.debug({ requestId, status: failure.status, code: error.code }, 'refused a request that cannot be read');
    answerUnread(socket, { requestId, failure, clock });
  });
  return server;
}

/** Stands for a request whose head was not read, so its own id is unknown. */
const UNREAD = { headers: {} };

/** Answers a request without its head. */
function answerUnread(socket: Socket, { requestId, failure, clock }: Unread): void {
  socket.end(rawAnswer(requestId, failureAnswer({ requestId }, failure)));
  closeSoon(socket, clock);
}

interface Unread {
  requestId: string;
  failure: Failure;
  clock: Clock;
}

const INVALID: Failure = { status: 400, body: { error: 'The request is not valid HTTP/1.1' } };

const CLIENT_ERRORS: Record<string, Failure> = {
  HPE_HEADER_OVERFLOW: { status: 431, body: { error: 'The headers of the request have more than 16 KiB' } },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, body: { error: 'The chunk extensions of the body are too large' } },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, body: { error: 'The request was not complete in time' } },
};
