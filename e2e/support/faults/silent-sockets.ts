import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What an unauthenticated client does on its socket, or instead of requesting one, without a handshake. */
export type Silence = 'nothing' | 'half a frame' | 'pings' | 'half an upgrade';

export interface SilentSocket extends Disposable {
  /** 101: accepted; 503: refused. Undefined: the request is incomplete. */
  status: number | undefined;
  retryAfter: string | undefined;
  isHeld(): boolean;
  /** Resolves when the daemon has closed it. */
  gone: Promise<unknown>;
}

interface Stranger {
  port: number;
  /** Any address of 127.0.0.0/8. */
  from: string;
  silence: Silence;
}

/** A socket from `from` that never authenticates. */
export async function openSilent({ port, from, silence }: Stranger): Promise<SilentSocket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const gone = new Promise((resolve) => socket.once('close', resolve));
  const shared = { isHeld: () => !socket.closed, gone, [Symbol.dispose]: () => void socket.destroy() };
  if (silence === 'half an upgrade') {
    socket.write(UPGRADE.slice(0, UPGRADE.length / 2));
    return { ...shared, status: undefined, retryAfter: undefined };
  }
  socket.write(UPGRADE);
  const head = await readHead(socket);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
  if (status === 101 && silence !== 'nothing') socket.write(silence === 'pings' ? PINGS : HALF_A_FRAME);
  return { ...shared, status, retryAfter: /^retry-after: (.*)$/im.exec(head)?.[1]?.trim() };
}

async function readHead(socket: Socket): Promise<string> {
  let head = '';
  for (;;) {
    const [chunk]: Buffer[] = await once(socket, 'data');
    head += chunk?.toString('latin1');
    if (!head.includes('\r\n\r\n')) continue;
    socket.on('data', closeBack);
    return head;
  }
}

/** Answers a close frame as any WebSocket client does, so that the server does not wait for its timeout. */
function closeBack(this: Socket, chunk: Buffer): void {
  if (chunk[0] === 0x88) this.end(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
}

const UPGRADE = [
  'GET /v1/ws HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');

/** Masked, with a mask that changes nothing. */
const PINGS = Buffer.from([0x89, 0x80, 0, 0, 0, 0, 0x89, 0x80, 0, 0, 0, 0]);
/** Announces 100 bytes and sends two. */
const HALF_A_FRAME = Buffer.from([0x81, 0xe4, 0, 0, 0, 0, 0x7b, 0x22]);
