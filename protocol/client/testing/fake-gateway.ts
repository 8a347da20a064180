import type { HelloOk } from '../../connect.ts';
import type { EventFrame, RequestFrame, ResponseFrame } from '../../frames.ts';
import type { SocketEvent, SocketLike } from '../socket.ts';
import { settled } from './fake-timers.ts';

/** The daemon's side of WebSockets, controlled by the test. */
export function fakeGateway() {
  const sockets: FakeSocket[] = [];
  return {
    sockets,
    WebSocket: class extends FakeSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
    },
    /** The socket opened last. */
    get socket(): FakeSocket {
      const socket = sockets.at(-1);
      if (socket === undefined) throw new Error('no socket was opened');
      return socket;
    },
  };
}

export const hello = (policy: Partial<HelloOk['policy']> = {}): HelloOk => ({
  type: 'hello-ok',
  protocol: 2,
  server: { version: '0.1.0', connId: 'c1' },
  features: { methods: ['health'], events: ['tick'] },
  snapshot: { presence: [], health: {}, stateVersion: { presence: 1, health: 1 }, uptimeMs: 1 },
  policy: { maxPayload: 1024, maxBufferedBytes: 1024, tickIntervalMs: 30_000, ...policy },
});

class FakeSocket implements SocketLike {
  readonly url: string;
  readonly sent: RequestFrame[] = [];
  closedWith: number | undefined;
  /** 2: the gateway has begun to close it. */
  readyState = 1;
  readonly #listeners = new Map<string, (event: SocketEvent) => void>();

  constructor(url: string) {
    this.url = url;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(code?: number): void {
    this.closedWith = code;
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, listener);
  }

  /** Opens and answers `connect`. */
  async accept(answer: HelloOk = hello()): Promise<void> {
    this.#tell({ type: 'open' });
    await this.answer({ id: 'connect', ok: true, payload: answer });
  }

  async refuse(error: NonNullable<ResponseFrame['error']>): Promise<void> {
    this.#tell({ type: 'open' });
    await this.answer({ id: 'connect', ok: false, error });
    await this.drop(1008, error.message);
  }

  async answer(frame: Omit<ResponseFrame, 'type'>): Promise<void> {
    await this.deliver(JSON.stringify({ type: 'res', ...frame }));
  }

  async event(frame: Omit<EventFrame, 'type'>): Promise<void> {
    await this.deliver(JSON.stringify({ type: 'event', ...frame }));
  }

  async deliver(data: unknown): Promise<void> {
    this.#tell({ type: 'message', data });
    await settled();
  }

  async drop(code = 1006, reason = ''): Promise<void> {
    this.#tell({ type: 'close', code, reason });
    await settled();
  }

  /** The requests sent after the handshake. */
  get calls(): RequestFrame[] {
    return this.sent.filter(({ method }) => method !== 'connect');
  }

  #tell(event: SocketEvent): void {
    this.#listeners.get(event.type)?.(event);
  }
}
