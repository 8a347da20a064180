import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { FOREIGN, type OriginPolicy } from '../auth/origin-policy.ts';
import { problemOfHead } from '../auth/request-head.ts';
import type { UpgradeToken } from './credentials.ts';

/** What the upgrade request says about a client. */
export interface Upgrade {
  connId: string;
  address: string;
  credential: UpgradeToken;
  /** Whether a web page opened it. */
  hasOrigin: boolean;
  /** Frees the place among unauthenticated sockets. Closing the socket does so too. */
  leaveLobby(): void;
}

/** Why a request gets no WebSocket, as an HTTP answer. */
export interface UpgradeRefusal {
  status: number;
  error: string;
  headers?: Record<string, string>;
}

/** Answers a request that gets no WebSocket, like every other request to the same port, and closes its connection. */
export type RefuseUpgrade = (request: IncomingMessage, socket: Duplex, refusal: UpgradeRefusal) => void;

const PATHS = new Set(['/', '/v1/ws']);

/**
 * Whether a request asks for a WebSocket where there is one. The offers of all others, such as curl’s of HTTP/2, are
 * ignored, and they are answered as plain HTTP.
 */
export const isWebSocketUpgrade = ({
  method,
  url,
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && PATHS.has((url ?? '').split('?', 1)[0] ?? '');

/**
 * Undefined for a request that may have a WebSocket. Pages of other sites are refused unless allowed: they could not log
 * in, but could use up all places for unauthenticated clients.
 */
export function refusalOf(
  request: IncomingMessage,
  originPolicy: Pick<OriginPolicy, 'refusalOfHost' | 'admitsSocket'>,
): UpgradeRefusal | undefined {
  const problem = problemOfHead(request.rawHeaders);
  if (problem) return { status: problem.status, error: problem.text };
  const refusal = originPolicy.refusalOfHost(request);
  if (refusal) return refusal;
  return originPolicy.admitsSocket(request.headers) ? undefined : { status: 403, error: FOREIGN };
}

/** Places become free as fast as handshakes end, so a refused client should retry soon. */
const SOON = { 'Retry-After': '1' };

export const NO_PLACE: UpgradeRefusal = {
  status: 503,
  error: 'Too many clients have not logged in yet. Try again in a second.',
  headers: SOON,
};
export const STOPPING: UpgradeRefusal = { status: 503, error: 'The daemon is stopping', headers: SOON };

/** Of a request that `ws` cannot accept. The header names the versions that it speaks. */
export const unacceptable = ({ message }: Error): UpgradeRefusal => ({
  status: 400,
  error: message,
  headers: { 'Sec-WebSocket-Version': '13, 8' },
});
