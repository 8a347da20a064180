import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../clock.ts';
import { type Answer, everyAnswer } from '../exchange.ts';

/** The bytes of an answer for which Node has no response object. Its connection ends with it. */
export function rawAnswer(requestId: string, { status, contentType, body, headers }: Answer): string {
  const head = {
    ...everyAnswer({ requestId }),
    Connection: 'close',
    ...(contentType !== undefined && { 'Content-Type': contentType }),
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

const LINGER_MS = 1_000;

/**
 * Closes after a delay, because closing at once could reset the connection before the client reads the answer. Without
 * this, a client could also keep it open.
 */
export function closeSoon(socket: Duplex, clock: Clock): void {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  const close = () => socket.destroy();
  clock.sleep(LINGER_MS, closed.signal).then(close, close);
}
