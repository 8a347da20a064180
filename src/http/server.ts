import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { FORWARDED_BYTES } from '../gateway/auth/machines/forwarded-head.ts';
import { isWebSocketUpgrade } from '../gateway/connections/upgrade.ts';
import type { Log } from '../log.ts';
import type { HttpApp } from './app.ts';
import type { BodyDeadlines } from './body-deadlines.ts';
import { toOriginForm } from './input/target.ts';
import { answerUnread } from './raw/unread.ts';

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
      keepAliveTimeout: LIMITS.keepAliveMs,
      maxHeaderSize: LIMITS.requestHeadBytes + FORWARDED_BYTES,
      insecureHTTPParser: false,
      requireHostHeader: false, // the gate refuses it, with the headers of every answer
      shouldUpgradeCallback(req) {
        toOriginForm(req);
        return isWebSocketUpgrade(req);
      },
      IncomingMessage: classes.IncomingMessage,
      ServerResponse: classes.ServerResponse,
    },
    (req, res) => {
      toOriginForm(req);
      bodies.begin(req, res);
      listener(req, res);
    },
  );
  // The parser refuses further ones, so the gate sees the first excess, also of a request that a standby forwards.
  server.maxHeadersCount = LIMITS.requestHeaders + 2;
  // Without a listener, Node answers itself and reads the body to its end.
  server.on('checkExpectation', raw.refuseExpectation);
  server.on('connect', raw.refuseConnect);
  // Without a listener, a client that resets its connection would end the process.
  const onSocketError = (error: Error) => log.debug({ err: error }, 'a connection failed');
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    socket.on('error', onSocketError);
  });
  answerUnread(server, { newRequestId: () => requestIdOf(UNREAD), clock, log });
  return server;
}

/** Stands for a request whose head was not read, so its own id is unknown. */
const UNREAD = { headers: {} };
