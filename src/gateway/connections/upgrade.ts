import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OriginPolicy } from '../auth/origin-policy.ts';

const PATHS = new Set(['/', '/v1/ws']);

interface UpgradeRules {
  originPolicy: Pick<OriginPolicy, 'checkHost' | 'isForeign'>;
  /** False: nobody has to prove anything, so no page of someone else may come in at all. */
  isAuthEnabled: boolean;
}

/** Why an upgrade request gets no WebSocket, as an HTTP status; undefined when it may have one. */
export function refusalOf({ url, headers }: IncomingMessage, rules: UpgradeRules): number | undefined {
  const { originPolicy, isAuthEnabled } = rules;
  if (!PATHS.has((url ?? '').split('?', 1)[0] ?? '')) return 404;
  if (!originPolicy.checkHost(headers.host)) return 403;
  return !isAuthEnabled && originPolicy.isForeign(headers) ? 403 : undefined;
}

/** Places are given back as fast as handshakes end, so a client that found none should not wait for long. */
const RETRY_AFTER_SECS = 1;

/** Answers an upgrade request with a status and nothing else, but for when to come back after a 503. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  socket.once('finish', () => socket.destroy());
  const retryAfter = status === 503 ? `Retry-After: ${RETRY_AFTER_SECS}\r\n` : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retryAfter}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** Whether a request wants a WebSocket. Others, like curl’s offer of HTTP/2, are answered as if they had not asked. */
export const isWebSocketUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';
