import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OriginPolicy } from '../auth/origin-policy.ts';
import { problemOfHead } from '../auth/request-head.ts';

const PATHS = new Set(['/', '/v1/ws']);

/**
 * Why an upgrade request gets no WebSocket, as an HTTP status; undefined when it may have one. Pages of other sites are
 * refused unless allowed: they could not log in, but could use up all places for unauthenticated clients.
 */
export function refusalOf(
  { url, headers, rawHeaders }: IncomingMessage,
  originPolicy: Pick<OriginPolicy, 'checkHost' | 'admitsSocket'>,
): number | undefined {
  const problem = problemOfHead(rawHeaders);
  if (problem) return problem.status;
  if (!PATHS.has((url ?? '').split('?', 1)[0] ?? '')) return 404;
  if (!originPolicy.checkHost(headers.host)) return 403;
  return originPolicy.admitsSocket(headers) ? undefined : 403;
}

/** Places become free as fast as handshakes end, so a refused client should retry soon. */
const RETRY_AFTER_SECS = 1;

/** Answers an upgrade request with a status only, plus Retry-After for a 503. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  socket.once('finish', () => socket.destroy());
  const retryAfter = status === 503 ? `Retry-After: ${RETRY_AFTER_SECS}\r\n` : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retryAfter}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** Whether a request asks for a WebSocket. Other upgrades, such as curl’s offer of HTTP/2, are ignored. */
export const isWebSocketUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';
