import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The server to connect to. */
export interface SocketTarget {
  port: number;
  /** Sent in a `connect` request, whose answer is awaited. Absent: no `connect` request. */
  token?: string;
}

/**
 * A minimal WebSocket client. It implements the protocol by hand over a plain socket, so that one process can load a
 * server that is as fast as itself.
 */
export class LeanSocket {
  readonly #socket: Socket;
  #rest: Buffer = NOTHING;
  #isUpgraded = false;
  /** Called for every text frame; the bytes are only valid during the call. */
  onText: (payload: Buffer) => void = () => undefined;
  /** Called after the frames of one read. */
  onRead: () => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#socket.destroy(error));
  }

  /** Opens a socket; with a token, also completes the handshake. */
  static async open({ port, token }: SocketTarget): Promise<LeanSocket> {
    const client = new LeanSocket(port);
    const gone = once(client.#socket, 'close').then(() => Promise.reject(new Error('the server closed the socket')));
    gone.catch(() => undefined); // matters only while it opens
    client.write(Buffer.from(UPGRADE));
    await Promise.race([client.#nextRead(), gone]);
    if (token === undefined) return client;
    const answer = await Promise.race([client.request('connect', connectParams(token)), gone]);
    if (!answer.includes('"ok":true')) throw new Error(`no hello: ${answer}`);
    return client;
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Stops reading: once the system's buffers are full, the server's writes block. */
  stall(): void {
    this.#socket.pause();
  }

  /** Closes the socket without a closing handshake. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Sends one request and resolves with the text of the next frame. Only while no other request is in flight. */
  request(method: string, params: object): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.onText = (payload) => {
      const text = payload.toString();
      if (!text.startsWith('{"type":"event"')) resolve(text);
    };
    this.write(textFrame(JSON.stringify({ type: 'req', id: method, method, params })));
    return promise.finally(() => {
      this.onText = () => undefined;
    });
  }

  /** Performs the closing handshake. Resolves when the socket is closed. */
  async close(): Promise<void> {
    if (this.#socket.closed) return;
    const closed = once(this.#socket, 'close');
    this.write(CLOSE);
    await closed;
  }

  #nextRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onRead = resolve;
    return promise.finally(() => {
      this.onRead = () => undefined;
    });
  }

  #take(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#isUpgraded) {
      const end = data.indexOf('\r\n\r\n');
      if (end === -1) {
        this.#rest = data;
        return;
      }
      if (!data.subarray(0, 12).equals(SWITCHING)) throw new Error(data.toString('latin1', 0, end));
      this.#isUpgraded = true;
      data = data.subarray(end + 4);
    }
    this.#rest = this.#takeFrames(data);
    this.onRead();
  }

  /** Handles all complete frames and returns the rest. */
  #takeFrames(data: Buffer): Buffer {
    let at = 0;
    for (;;) {
      const frame = frameAt(data, at);
      if (!frame) return at === data.length ? NOTHING : data.subarray(at);
      const payload = data.subarray(frame.start, frame.end);
      at = frame.end;
      if (frame.opcode === TEXT) this.onText(payload);
      else if (frame.opcode === PING) this.write(clientFrame(PONG, payload));
      else if (frame.opcode === CLOSING) this.#socket.end();
    }
  }
}

/** Opens many sockets, but never more at a time than a server allows before authentication. */
export async function openSockets(target: SocketTarget, count: number): Promise<LeanSocket[]> {
  const sockets: LeanSocket[] = [];
  let begun = 0;
  const openSome = async () => {
    while (begun < count) {
      begun += 1;
      sockets.push(await LeanSocket.open(target));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
  return sockets;
}

const AT_ONCE = 16;

export const textFrame = (text: string): Buffer => clientFrame(TEXT, Buffer.from(text));

const TEXT = 1;
const CLOSING = 8;
const PING = 9;
const PONG = 10;
const MASK = Buffer.from([0x17, 0x2a, 0x39, 0x4c]);
const NOTHING = Buffer.alloc(0);
const SWITCHING = Buffer.from('HTTP/1.1 101');
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** A masked frame, as clients send them (RFC 6455, 5.2). */
function clientFrame(opcode: number, payload: Buffer): Buffer {
  if (payload.length >= 65_536) throw new Error('too long for a frame of this client');
  const isShort = payload.length < 126;
  const header = isShort ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const start = [0x80 | opcode, 0x80 | (header[0] ?? 0), ...header.slice(1)];
  const masked = payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0));
  return Buffer.concat([Buffer.from(start), MASK, masked]);
}

const CLOSE = clientFrame(CLOSING, Buffer.from([0x03, 0xe8]));

/** A frame of the server, if it is complete. */
function frameAt(data: Buffer, at: number): { opcode: number; start: number; end: number } | undefined {
  if (data.length - at < headerBytes(data, at)) return undefined;
  const start = at + headerBytes(data, at);
  const end = start + payloadBytes(data, at);
  return end > data.length ? undefined : { opcode: (data[at] ?? 0) & 0x0f, start, end };
}

function headerBytes(data: Buffer, at: number): number {
  const length = (data[at + 1] ?? 0) & 0x7f;
  if (length < 126) return 2;
  return length === 126 ? 4 : 10;
}

function payloadBytes(data: Buffer, at: number): number {
  const length = (data[at + 1] ?? 0) & 0x7f;
  if (length < 126) return length;
  return length === 126 ? data.readUInt16BE(at + 2) : data.readUIntBE(at + 4, 6);
}

/** Without an instanceId: each socket is a client of its own in the presence list. */
const connectParams = (token: string) => ({
  minProtocol: 2,
  maxProtocol: 2,
  client: { name: 'bench', version: '1', platform: 'linux', mode: 'test' },
  auth: { token },
});
