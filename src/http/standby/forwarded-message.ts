import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../clock.ts';
import { FORWARDED } from '../../gateway/auth/machines/forwarded-head.ts';
import { closeSoon } from '../raw/raw-answer.ts';

/** Headers of one connection (RFC 9110, section 7.6.1), an expectation that is answered here, and what only a daemon may say. */
const HOPS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect'],
  FORWARDED,
]);

/** The headers as they were sent, repeated ones too, without those of the connection. */
function withoutHops(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!HOPS.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

const UPGRADE = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

type Headers = Pick<IncomingMessage, 'rawHeaders' | 'headers'>;

/** Whether a body comes, so that both ends agree on where the next request begins. */
export const hasBody = ({ headers }: Pick<Headers, 'headers'>): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** The headers of a request for the daemon that is asked. The length and the coding of the body stay, so that both read the same body. */
export const headersToAsk = ({ rawHeaders }: Headers): string[] => withoutHops(rawHeaders);

/** The same for a request that asks for a WebSocket. It has no body: everything after its head belongs to the socket. */
export const headersToUpgrade = ({ rawHeaders }: Headers): string[] => [
  ...without(withoutHops(rawHeaders), ['content-length', 'transfer-encoding']),
  ...UPGRADE,
];

/** The headers of an answer for the client. The coding of the body is that of each connection: HTTP/1.0 has none. */
export const headersToAnswer = ({ rawHeaders }: Pick<Headers, 'rawHeaders'>): string[] =>
  without(withoutHops(rawHeaders), ['transfer-encoding']);

const without = (headers: readonly string[], names: readonly string[]): string[] =>
  headers.filter((_, at) => !names.includes(headers[at - (at % 2)]?.toLowerCase() ?? ''));

interface Joined {
  client: Duplex;
  upstream: Duplex;
  /** The switch to the protocol. */
  answer: IncomingMessage;
  /** What came with the heads. */
  heads: { client: Buffer; upstream: Buffer };
  /** Ends both. */
  signal: AbortSignal;
  clock: Clock;
}

/** Passes everything between two sockets until one of them ends. */
export function joinSockets({ client, upstream, answer, heads, signal, clock }: Joined): void {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) socket.on('error', end);
  signal.addEventListener('abort', end, { once: true });
  client.once('close', () => {
    signal.removeEventListener('abort', end);
    upstream.destroy();
  });
  // What was received last may still wait for a slow client.
  upstream.once('close', () => endSoon(client, clock));
  if (client.destroyed || signal.aborted) {
    end();
    return;
  }
  client.write(headOf(answer, [...headersToAnswer(answer), ...UPGRADE]));
  if (heads.upstream.length > 0) client.write(heads.upstream);
  if (heads.client.length > 0) upstream.write(heads.client);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** Answers a request for a WebSocket that was refused, and closes its connection. */
export function answerSocket(client: Duplex, answer: IncomingMessage, clock: Clock): void {
  answer.on('error', () => client.destroy());
  answer.once('end', () => endSoon(client, clock));
  client.write(headOf(answer, [...headersToAnswer(answer), 'Connection', 'close']));
  answer.pipe(client); // without its coding: the end of the connection ends the body
}

/** Sends what is left, and closes. What the client still sends is read, so that its end is noticed, but goes nowhere. */
export function endSoon(client: Duplex, clock: Clock, text?: string): void {
  if (client.destroyed) return;
  client.resume();
  client.end(text);
  closeSoon(client, clock);
}

function headOf({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): string {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1] ?? ''}`] : []));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
