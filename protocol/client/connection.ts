import type { HelloOk } from '../connect.ts';
import type { ErrorShape, EventFrame, Frame, ResponseFrame } from '../frames.ts';
import type { ParamsInput } from '../index.ts';
import { LIMITS } from '../limits.ts';
import { ConnectionLostError, RequestError } from './request-error.ts';
import type { SocketConstructor, SocketLike } from './socket.ts';
import type { Timers } from './timers.ts';

interface ConnectionOptions {
  url: string;
  params: ParamsInput<'connect'>;
  WebSocket: SocketConstructor;
  timers: Timers;
  onHello(hello: HelloOk): void;
  onResponse(frame: ResponseFrame): void;
  onEvent(frame: EventFrame): void;
  /** Called exactly once, unless `close` was called first. A RequestError means that the daemon refused the handshake. */
  onEnd(error: ConnectionLostError | RequestError): void;
}

const HANDSHAKE_ID = 'connect';
/** The `readyState` of an open socket. */
const OPEN = 1;

/** One socket from its opening to its end: the handshake first, then frames. It is closed if it falls silent. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: SocketLike;
  #hello: HelloOk | undefined;
  #state: 'running' | 'ended' = 'running';
  #lastFrameMs: number;
  #cancelWatch: () => void;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#lastFrameMs = options.timers.now();
    this.#socket = new options.WebSocket(options.url);
    this.#cancelWatch = this.#watch();
    let isOpen = false;
    this.#socket.addEventListener('open', () => {
      isOpen = true;
      if (this.#state === 'running')
        this.send({ type: 'req', id: HANDSHAKE_ID, method: 'connect', params: options.params });
    });
    this.#socket.addEventListener('message', ({ data }) => this.#onMessage(data));
    this.#socket.addEventListener('close', ({ code = 1006, reason = '' }) => {
      const closed = `the connection was closed (${code}${reason === '' ? '' : ` ${reason}`})`;
      this.#end(new ConnectionLostError(isOpen ? closed : `no gateway answers at ${options.url}`, { code, reason }));
    });
    // Without a listener `ws` would throw; a `close` follows every error.
    this.#socket.addEventListener('error', () => undefined);
  }

  /** What is sent now would be lost. */
  get isClosing(): boolean {
    return (this.#socket.readyState ?? OPEN) > OPEN;
  }

  send(frame: Frame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Idempotent. No listener is called afterwards. */
  close(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelWatch();
    this.#socket.close(1000);
  }

  #end(error: ConnectionLostError | RequestError): void {
    if (this.#state === 'ended') return;
    this.close();
    this.#options.onEnd(error);
  }

  #onMessage(data: unknown): void {
    if (this.#state === 'ended' || typeof data !== 'string') return;
    this.#lastFrameMs = this.#options.timers.now();
    const frame = readFrame(data);
    if (frame?.type === 'event') this.#options.onEvent(frame);
    else if (frame?.type !== 'res') return;
    else if (this.#hello === undefined && frame.id === HANDSHAKE_ID) this.#onHandshake(frame);
    else this.#options.onResponse(frame);
  }

  #onHandshake(frame: ResponseFrame): void {
    if (!frame.ok) {
      this.#end(toRequestError(frame));
      return;
    }
    const hello = frame.payload as HelloOk; // the answer to connect, by its contract
    this.#hello = hello;
    this.#cancelWatch();
    this.#cancelWatch = this.#watch();
    this.#options.onHello(hello);
  }

  /** Ends a connection after two ticks of silence, because a half-open socket reports no close for minutes. */
  #watch(): () => void {
    const { timers } = this.#options;
    const limitMs = this.#hello === undefined ? LIMITS.handshakeMs : 2 * this.#hello.policy.tickIntervalMs;
    const silentMs = timers.now() - this.#lastFrameMs;
    return timers.after(limitMs - silentMs, () => {
      if (timers.now() - this.#lastFrameMs < limitMs) this.#cancelWatch = this.#watch();
      else this.#end(new ConnectionLostError(`no frame for ${limitMs} ms`));
    });
  }
}

/** The error of a refused call, for the caller. */
export function toRequestError({ error, payload }: Pick<ResponseFrame, 'error' | 'payload'>): RequestError {
  const { code, message, ...rest }: ErrorShape = error ?? { code: 'INTERNAL', message: 'the answer carries no error' };
  return new RequestError(code, message, { ...rest, payload });
}

/** Checks only the outline: the daemon validates what it sends, and schemas would triple the size of the page. */
function readFrame(text: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'type' in value ? (value as Frame) : undefined;
  } catch {
    return undefined; // not a frame: ignored, as the protocol requires
  }
}
