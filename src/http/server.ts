import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { isWebSocketUpgrade } from '../gateway/connections/upgrade.ts';
import type { Log } from '../log.ts';

/** A server with limits against slow and oversized requests. Streams are answers, so the request limits leave them alone. */
export function createHttpServer(app: RequestListener, { log }: { log: Log }): Server {
  const server = createServer(
    {
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16 * 1024,
      insecureHTTPParser: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    app,
  );
  server.maxHeadersCount = 100;
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    // Without a listener one client that resets its connection would end the process.
    socket.on('error', (error) => log.debug({ err: error }, 'a connection broke'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(
      `HTTP/1.1 ${status}\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
  });
  return server;
}

const CLIENT_ERRORS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
