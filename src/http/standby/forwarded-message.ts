import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { FORWARDED } from '../../gateway/auth/machines/forwarded-head.ts';

/** Headers of one connection (RFC 9110, section 7.6.1), and what only a daemon may say. */
const HOPS = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', FORWARDED]);

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

/** The headers of a request for the daemon that is asked. The length and the coding of the body stay, so that both read the same body. */
export const headersToAsk = ({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] => [
  ...withoutHops(rawHeaders),
  ...(headers.upgrade === undefined ? [] : UPGRADE),
];

/** The headers of an answer for the client. The coding of the body is that of each connection: HTTP/1.0 has none. */
export function headersToAnswer({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string[] {
  const headers = withoutHops(rawHeaders);
  const isCoding = (at: number) => headers[at - (at % 2)]?.toLowerCase() === 'transfer-encoding';
  return headers.filter((_, at) => !isCoding(at));
}

interface Joined {
  client: Duplex;
  upstream: Duplex;
  /** The switch to the protocol. */
  answer: IncomingMessage;
  /** What came with the heads. */
  heads: { client: Buffer; upstream: Buffer };
  /** Ends both. */
  signal: AbortSignal;
}

/** Passes everything between two sockets until one of them ends. */
export function joinSockets({ client, upstream, answer, heads, signal }: Joined): void {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    socket.on('error', end);
    socket.on('close', end);
  }
  signal.addEventListener('abort', end, { once: true });
  client.once('close', () => signal.removeEventListener('abort', end));
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
export function answerSocket(client: Duplex, answer: IncomingMessage): void {
  answer.on('error', () => client.destroy());
  client.write(headOf(answer, [...headersToAnswer(answer), 'Connection', 'close']));
  answer.pipe(client); // without its coding: the end of the connection ends the body
}

function headOf({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): string {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1] ?? ''}`] : []));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
